# Which include directories are mirrored, and in which order the compiler gets them.
hip_machine()
foreach(
  dir
  IN
  ITEMS own pub late built language
)
  source(
    ${dir}/${dir}.h
    "#pragma once"
    "#include <cuda_runtime.h>"
    "inline cudaError_t ${dir}() { return cudaGetLastError(); }"
  )
endforeach()
# Not translated: this would not compile if it were needed.
foreach(dir IN ITEMS system imported interface_system ../build/_deps/fetched)
  cmake_path(GET dir FILENAME name)
  source(${dir}/${name}.h "#pragma once" "inline int ${name}(int cudaError_t) { return cudaError_t; }"
  )
endforeach()
source(
  k.cu
  "#include <own.h>"
  "#include <pub.h>"
  "#include <late.h>"
  "#include <built.h>"
  "#include <language.h>"
  "#include <system.h>"
  "#include <imported.h>"
  "#include <fetched.h>"
  "#include <interface_system.h>"
  "int k() { return own() + pub() + late() + built() + language(); }"
)
configure(
  [[
cudaops_add_kernels(k SOURCES k.cu)
add_library(base INTERFACE)
target_include_directories(base INTERFACE pub "$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/built>" "$<INSTALL_INTERFACE:include>")
target_include_directories(base SYSTEM INTERFACE interface_system)
add_library(middle INTERFACE)
add_library(alias::base ALIAS base)
target_link_libraries(middle INTERFACE alias::base)
add_library(elsewhere INTERFACE IMPORTED)
target_include_directories(elsewhere INTERFACE "${CMAKE_CURRENT_SOURCE_DIR}/imported")
set_property(TARGET elsewhere PROPERTY IMPORTED_NO_SYSTEM ON)
add_library(fetched INTERFACE)
target_include_directories(fetched INTERFACE "${CMAKE_CURRENT_BINARY_DIR}/_deps/fetched")
add_library(sys INTERFACE)
target_include_directories(sys SYSTEM INTERFACE system)
target_link_libraries(k PRIVATE middle elsewhere fetched sys)
target_include_directories(k PRIVATE own "$<$<COMPILE_LANGUAGE:HIP,CXX>:${CMAKE_CURRENT_SOURCE_DIR}/language>")
# After the call that makes the target.
target_include_directories(k PRIVATE late)
]]
)
case_build(ARGS --verbose)
snapshot(mirror "${case_BUILD_DIR}/k.hipified")
case_equal("mirrored" "${mirror_FILES}" "built/built.h\nk.cu\nlanguage/language.h\nlate/late.h\nown/own.h\npub/pub.h")
string(REGEX MATCH "[^\n]* -c [^\n]*k\\.cu[^\n]*" line "${case_STEP_STDOUT}")
string(REPLACE "${case_DIR}/" "<case>/" line "${line}")
string(REPLACE "\"" "" line "${line}")
string(REPLACE "\\ " " " line "${line}")
string(REGEX MATCHALL "-I *<case>/[^ ]*/(own|late|language|pub|built)( |$)" options "${line}")
list(TRANSFORM options REPLACE "^-I *<case>/" "")
list(TRANSFORM options REPLACE " $" "")
case_equal(
  "-I"
  "${options}"
  "build/k.hipified/own;build/k.hipified/language;build/k.hipified/late;build/k.hipified/pub;build/k.hipified/built;src/own;src/language;src/late;src/pub;src/built"
)
