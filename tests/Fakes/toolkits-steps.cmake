# A fake toolkit is one that CMake itself takes for the real thing, in each layout.
foreach(pair IN ITEMS 11.3|SYSTEM 12.8|CONDA 13.2|PIP)
  string(REPLACE "|" ";" pair "${pair}")
  list(GET pair 0 version)
  list(GET pair 1 layout)
  set(dir "${case_DIR}/${version}-${layout}")
  fake_toolkit("${dir}" VERSION ${version} LAYOUT ${layout})
  set(root "${dir}")
  if(layout STREQUAL "PIP")
    string(REGEX REPLACE "\\..*" "" major "${version}")
    set(root "${dir}/nvidia/cu${major}")
  endif()
  file(MAKE_DIRECTORY "${case_DIR}/${version}-${layout}-src")
  file(
    WRITE "${case_DIR}/${version}-${layout}-src/a.cu"
    "#include <cuda_runtime.h>\n__device__ int f() { return 1; }\n"
  )
  file(
    WRITE "${case_DIR}/${version}-${layout}-src/CMakeLists.txt"
    "cmake_minimum_required(VERSION 3.25)
project(fake LANGUAGES CXX CUDA)
if(NOT CMAKE_CUDA_COMPILER_VERSION MATCHES [[^${version}\\.]])
  message(FATAL_ERROR \"\${CMAKE_CUDA_COMPILER_VERSION}\")
endif()
add_library(a SHARED a.cu)
set_target_properties(a PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
"
  )
  set(build "${case_DIR}/${version}-${layout}-build")
  case_configure(
    SOURCE_DIR "${case_DIR}/${version}-${layout}-src" BUILD_DIR "${build}"
    ARGS "-DCMAKE_CUDA_COMPILER=${root}/bin/nvcc" -DCMAKE_CUDA_ARCHITECTURES=86
  )
  case_build(BUILD_DIR "${build}")
endforeach()
