# A C++ standard of the project, or of its toolchain file, that CMake doesn't know of nvcc: C++20 before CMake 3.25.2, C++23.
machine(CUDA)
set(ops "add_torch_op(both SOURCES op.cpp CUDA_SOURCES op.cu)\ncudaops_add_kernels(kernels SOURCES more.cu)")
set(said "CXX_STANDARD is 23, which CMake doesn't know of nvcc [0-9.]+: CUDA files are C\\+\\+20")

file(WRITE "${case_DIR}/toolchain.cmake" "set(CMAKE_CXX_STANDARD 23)\nset(CMAKE_CXX_STANDARD_REQUIRED ON)\n")
configure("${ops}" ARGS "-DCMAKE_TOOLCHAIN_FILE=${case_DIR}/toolchain.cmake")
expect_stdout("CudaOps: both: ${said}")
expect_stdout("CudaOps: kernels: ${said}")
case_build(ARGS --verbose)
expect_stdout("nvcc[^\n]* -std=c\\+\\+20 ")
expect_stdout("-std=gnu\\+\\+2[3b] [^\n]*op.cpp")

configure("set(CMAKE_CXX_STANDARD 20)\nset(CMAKE_CXX_STANDARD_REQUIRED ON)\n${ops}")
case_not_match("said" "${case_STEP_STDOUT}" "CXX_STANDARD")
# Nothing of CUDA is compiled again: it was C++20 before.
case_build(ARGS --verbose)
case_not_match("compiled" "${case_STEP_STDOUT}" "\\.cu\\.o -c")

# One that is asked for CUDA itself is CMake's to say.
configure("set(CMAKE_CXX_STANDARD 23)\nset(CMAKE_CUDA_STANDARD 17)\n${ops}")
case_not_match("said" "${case_STEP_STDOUT}" "CXX_STANDARD")

# Nor is it that of CMake's trial of nvcc.
foreach(place IN ITEMS project cache)
  file(REMOVE_RECURSE "${case_BUILD_DIR}")
  set(before "set(CMAKE_CUDA_STANDARD 20)\nset(CMAKE_CUDA_STANDARD_REQUIRED ON)")
  set(args "")
  if(place STREQUAL "cache")
    set(before "")
    set(args ARGS -DCMAKE_CUDA_STANDARD=20 -DCMAKE_CUDA_STANDARD_REQUIRED=ON)
  endif()
  configure("message(STATUS \"it is \${CMAKE_CUDA_STANDARD}\")\n${ops}" BEFORE "${before}" ${args})
  expect_stdout("it is 20")
endforeach()
case_build(ARGS --verbose)
expect_stdout("nvcc[^\n]* -std=c\\+\\+20 ")
