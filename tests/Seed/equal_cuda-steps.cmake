# As the case "equal", with the real nvcc.
include("${case_SUITE}/common/equal.cmake")
set(toolkit "${case_TOOLKIT}")
if(NOT EXISTS "${toolkit}/bin/nvcc")
  set(toolkit /usr/local/cuda)
endif()
if(NOT EXISTS "${toolkit}/bin/nvcc")
  case_skip("no CUDA toolkit on this machine")
  return()
endif()
case_environment("CUDACXX=${toolkit}/bin/nvcc")
seed_project(
  "${case_DIR}/src" CXX CUDA
  BODY "add_library(three SHARED one.cpp three.cu)\nset_target_properties(three PROPERTIES CUDA_SEPARABLE_COMPILATION ON)"
)
expect_equal_trees("${case_GENERATOR}" "CXX;CUDA" -G "${case_GENERATOR}")
case_build()
seed_project(
  "${case_DIR}/src" CXX
  BODY "set(CMAKE_CUDA_ARCHITECTURES 90)\nenable_language(CUDA)\nadd_library(three SHARED one.cpp three.cu)"
)
expect_equal_trees("enable_language()" "CXX;CUDA" -G "${case_GENERATOR}")
case_build()
