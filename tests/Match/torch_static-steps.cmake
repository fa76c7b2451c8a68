# A static libtorch is described by its own TorchConfig.cmake, whose flags and architectures stay its own.
set(root "${case_DIR}/libtorch")
file(WRITE "${root}/build-version" "2.13.0+cpu\n")
file(WRITE "${root}/include/ATen/ATen.h" "\n")
file(WRITE "${root}/lib/libtorch_cpu.a" "!<arch>\n")
file(WRITE "${root}/lib/libc10.a" "!<arch>\n")
file(
  WRITE "${root}/share/cmake/Torch/TorchConfig.cmake"
  [==[
get_filename_component(root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
add_library(torch STATIC IMPORTED)
set_target_properties(torch PROPERTIES IMPORTED_LOCATION "${root}/lib/libtorch_cpu.a")
set(TORCH_LIBRARIES torch "${root}/lib/libc10.a")
set(TORCH_INCLUDE_DIRS "${root}/include")
string(APPEND CMAKE_CXX_FLAGS " -Wpolluted")
set(CMAKE_CUDA_ARCHITECTURES OFF)
set(Torch_FOUND TRUE)
]==]
)
match(
  ARGS "-DTorch_ROOT=${root}"
  AFTER
    "get_target_property(libraries CudaOps::torch INTERFACE_LINK_LIBRARIES)
message(STATUS \"libraries \${libraries} flags [\${CMAKE_CXX_FLAGS}] archs [\${CMAKE_CUDA_ARCHITECTURES}]\")
add_library(seen_everywhere SHARED empty.cpp)
file(WRITE \${CMAKE_CURRENT_SOURCE_DIR}/empty.cpp \"\")
target_link_libraries(seen_everywhere PRIVATE CudaOps::torch)"
)
expect_match(FOUND TRUE TORCH_VERSION 2.13.0+cpu VERDICT CPU_TORCH CUDA_ENABLED FALSE)
expect_stdout("libraries torch;.*/lib/libc10.a flags .. archs ..")
