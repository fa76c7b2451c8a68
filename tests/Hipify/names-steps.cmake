# Names that collide, or break other ways of translating, in one target: each has a translation and an object.
hip_machine()
set(
  names
  "accumulate.cu"
  "cpp_ops/gemm.cu"
  "x.cuda.cu"
  "cuda/x.cu"
  "hip/x.cu"
  "foo.cu"
  "foo.cpp"
  "a/k.cu"
  "b/k.cu"
  "with blank/k k.cu"
  "k.hip"
)
source(foo.cuh "#pragma once" "#include <cuda_runtime.h>" "inline cudaError_t last() { return cudaGetLastError(); }"
)
set(number 0)
set(calls "")
foreach(name IN LISTS names)
  math(EXPR number "${number} + 1")
  source("${name}" "#include <foo.cuh>" "int f${number}() { return last(); }"
  )
  string(APPEND calls " \"${name}\"")
endforeach()
# In a project at a path with a blank, and in a subdirectory of the same layout.
file(RENAME "${case_DIR}/src" "${case_DIR}/files")
file(COPY "${case_DIR}/files/" DESTINATION "${case_DIR}/src/one project")
file(COPY "${case_DIR}/files/" DESTINATION "${case_DIR}/src/two")
foreach(place IN ITEMS "one project" two)
  file(
    WRITE "${case_DIR}/src/${place}/CMakeLists.txt"
    "project(sub LANGUAGES CXX)\nfind_package(CudaOps REQUIRED)\nfind_package(CudaTorchMatch REQUIRED)\n"
    "string(REGEX REPLACE \".*/(one|two)[^/]*\$\" \"\\\\1\" name \"\${CMAKE_CURRENT_SOURCE_DIR}\")\n"
    "cudaops_add_kernels(\${name} SHARED SOURCES${calls})\n"
    "target_include_directories(\${name} PRIVATE .)\n"
  )
endforeach()
configure("add_subdirectory(\"one project\")\nadd_subdirectory(two)\n")
case_build()
foreach(place IN ITEMS "one project/one" two/two)
  foreach(name IN LISTS names)
    file(READ "${case_BUILD_DIR}/${place}.hipified/${name}" text)
    case_match("translation of ${name}" "${text}" "(^| )#include <foo.cuh> int f[0-9]+\\(\\) { return last\\(\\); }$"
    )
  endforeach()
  cmake_path(GET place FILENAME library)
  cmake_path(GET place PARENT_PATH directory)
  case_step(symbols COMMAND nm -DC "${case_BUILD_DIR}/${directory}/lib${library}.so")
endforeach()
foreach(n RANGE 1 ${number})
  case_match("symbols" "${case_STEP_STDOUT}" " T f${n}\\(\\)")
endforeach()
case_build()
if(case_GENERATOR MATCHES "Makefiles")
  # CMake before 3.28 has no working DEPFILE in a directory with a blank: the commands run, and write nothing.
  refuse_stdout("Building" "Linking")
else()
  expect_commands()
endif()
