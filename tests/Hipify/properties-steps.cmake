# What is said of a source, before the call or after it, holds for its translation.
hip_machine()
source(a.cpp "#if A != 1 || B != 2 || !defined(OPTION) || !defined(FLAG)" "#error" "#endif" "#include <x.h>" "cudaError_t a();"
)
source(mine/x.h "#include <cuda_runtime.h>"
)
source(b.cpp "#error this one is only a header"
)
source(c.cpp "__global__ void k(int*) {}")
source(x.hip "int x() { return 1; }")
source(needed.txt "1")
set(
  properties
  [[
set_source_files_properties(
  a.cpp
  PROPERTIES
    COMPILE_DEFINITIONS "A=1;B=2"
    COMPILE_OPTIONS -DOPTION
    COMPILE_FLAGS -DFLAG
    INCLUDE_DIRECTORIES "${CMAKE_CURRENT_SOURCE_DIR}/mine"
    OBJECT_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/needed.txt"
)
set_source_files_properties(b.cpp PROPERTIES HEADER_FILE_ONLY ON)
set_source_files_properties(c.cpp PROPERTIES LANGUAGE HIP)
]]
)
set(
  calls
  [[
hipify_sources(translated SOURCES a.cpp c.cpp)
add_library(plain OBJECT ${translated})
target_link_libraries(plain PRIVATE CudaOps::cuda_headers)
cudaops_add_kernels(k SOURCES a.cpp b.cpp c.cpp x.hip)
add_library(host OBJECT a.cpp)
target_link_libraries(host PRIVATE CudaOps::cuda_headers)
cudaops_target_hipify(host)
cudaops_target_hipify(host)
]]
)
foreach(order IN ITEMS before after)
  file(REMOVE_RECURSE "${case_BUILD_DIR}")
  if(order STREQUAL "before")
    configure("${properties}${calls}")
  else()
    configure("${calls}${properties}")
  endif()
  case_build()
  expect_commands(
    "translate a.cpp"
    "translate a.cpp"
    "translate a.cpp"
    "translate c.cpp"
    "translate c.cpp"
    "translate x.hip"
    "compile a.cpp"
    "compile a.cpp"
    "compile a.cpp"
    "compile c.cpp"
    "compile c.cpp"
    "compile x.hip"
  )
  expect_stdout("Building HIP object [^ ]*plain[^ ]*c\\.cpp" "Building HIP object [^ ]*k\\.dir[^ ]*c\\.cpp")
  expect_stdout("Building HIP object [^ ]*x\\.hip" "Building CXX object [^ ]*a\\.cpp")
  expect_file("${case_BUILD_DIR}/k.hipified/mine/x.h" "#include <hip/hip_runtime.h>\n"
  )
  touch(needed.txt)
  case_build()
  expect_commands("compile a.cpp" "compile a.cpp" "compile a.cpp")
endforeach()
