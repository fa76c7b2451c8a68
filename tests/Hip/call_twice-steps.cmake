# In a subdirectory again: the same facts, and the language's variables are there.
hip_machine()
file(
  WRITE "${case_DIR}/src/sub/CMakeLists.txt"
  "find_package(CudaTorchMatch REQUIRED)
if(NOT CudaTorchMatch_HIP_ENABLED OR NOT CMAKE_HIP_ARCHITECTURES STREQUAL gfx90a OR NOT DEFINED CMAKE_HIP_COMPILE_OBJECT)
  message(FATAL_ERROR \"[\${CMAKE_HIP_ARCHITECTURES}]\")
endif()
"
)
match(ARGS ${hip_ARGS} AFTER "add_subdirectory(sub)\nfind_package(CudaTorchMatch REQUIRED)")
expect_match(VERDICT EXACT)
