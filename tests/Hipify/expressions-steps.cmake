# Include directories and definitions that only CMake can evaluate: conditions, other targets' properties, libraries behind
# libraries, directories in the build tree, names with a comma.
hip_machine()
foreach(
  dir
  IN
  ITEMS condition never property behind private header
)
  source(
    "${dir}/${dir}.h"
    "#pragma once"
    "#include <cuda_runtime.h>"
    "inline cudaError_t ${dir}() { return cudaGetLastError(); }"
  )
endforeach()
source("a,b/comma.h" "#pragma once" "#include <cuda_runtime.h>" "inline cudaError_t comma() { return cudaSuccess; }"
)
source(
  k.cu
  "#include <condition.h>"
  "#include <property.h>"
  "#include \"behind.h\""
  "#include <comma.h>"
  "#include <built.h>"
  "#include BUILT_HEADER"
  "#include HEADER"
  "#if __has_include(<private.h>) || __has_include(<never.h>)"
  "#error"
  "#endif"
  "int k() { return condition() + property() + behind() + comma() + later() + header(); }"
)
source(host.cpp "#include <only_cxx.h>" "int host() { return only_cxx(); }"
)
source(cxx/only_cxx.h "#include <cuda_runtime.h>" "inline cudaError_t only_cxx() { return cudaSuccess; }"
)
set(
  code
  [[
file(CONFIGURE OUTPUT gen/built.h CONTENT "#pragma once\n#define BUILT_HEADER <later.h>\n" @ONLY)
file(CONFIGURE OUTPUT gen/later.h CONTENT "#include <cuda_runtime.h>\ninline cudaError_t later() { return cudaSuccess; }\n" @ONLY)
set(here "${CMAKE_CURRENT_SOURCE_DIR}")
add_library(behind INTERFACE)
target_include_directories(behind INTERFACE "$<IF:$<CONFIG:Release>,${here}/behind,${here}/never>" "${here}/a,b")
add_library(middle INTERFACE)
target_link_libraries(middle INTERFACE "$<$<NOT:$<BOOL:>>:behind>" "$<LINK_ONLY:hidden>")
target_include_directories(middle INTERFACE "$<BUILD_INTERFACE:${CMAKE_CURRENT_BINARY_DIR}/gen>")
add_library(hidden INTERFACE)
target_include_directories(hidden INTERFACE private)
add_library(other INTERFACE)
set_property(TARGET other PROPERTY PLACE "${here}/property")
cudaops_add_kernels(k SOURCES k.cu host.cpp)
target_include_directories(
  k
  PRIVATE
    "$<$<AND:$<CONFIG:Release>,$<BOOL:1>>:${here}/condition;${here}/header>"
    "$<TARGET_PROPERTY:other,PLACE>"
    "$<$<COMPILE_LANGUAGE:CXX>:${here}/cxx>"
)
target_compile_definitions(k PRIVATE "$<$<CONFIG:Release>:HEADER=<header.h$<ANGLE-R>>")
target_link_libraries(k PRIVATE middle)
]]
)
configure("${code}")
case_build()
expect_commands("translate k.cu" "translate host.cpp" "compile k.cu" "compile host.cpp")
snapshot(mirror "${case_BUILD_DIR}/k.hipified")
case_equal(
  "mirrored"
  "${mirror_FILES}"
  ".generated/gen/built.h
.generated/gen/later.h
a,b/comma.h
behind/behind.h
condition/condition.h
cxx/only_cxx.h
header/header.h
host.cpp
k.cu
property/property.h"
)
case_build()
expect_commands()
# The same again, and what another library brings is seen by the next build.
configure("${code}")
case_build()
expect_commands()
source(never/never.h "#pragma once"
)
source(more/condition.h "#error from the wrong directory"
)
set(failed 2)
if(case_GENERATOR STREQUAL "Ninja")
  set(failed 1)
endif()
configure("${code}\ntarget_include_directories(behind INTERFACE more)")
case_build(RESULT ${failed})
case_match("stderr and stdout" "${case_STEP_STDOUT}${case_STEP_STDERR}" "condition\\.h is found twice, with different content")

# A .cu that a library behind a library wants compiled by its users.
source(interface.cu "int i() { return 1; }")
file(REMOVE "${case_DIR}/src/more/condition.h")
configure("${code}\ntarget_sources(behind INTERFACE \"\${here}/interface.cu\")")
case_build(RESULT ${failed})
case_match(
  "stderr and stdout"
  "${case_STEP_STDOUT}${case_STEP_STDERR}"
  "interface\\.cu: error: a \\.cu file among the INTERFACE sources of a linked library can't be translated"
)
# make says it on stderr.
set_property(GLOBAL PROPERTY case_STDERR "")
