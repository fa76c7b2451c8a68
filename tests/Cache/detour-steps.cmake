# A header that is read by way of another directory ("../parts/parts.h" from a directory that -I names) lies in
# parts/../parts too: no file that hides it, and what the cache has of it is taken.
use_cache(ccache)
host_kernels()
file(WRITE "${case_DIR}/src/parts/parts.h" "#define PARTS 1\n")
file(WRITE "${case_DIR}/src/whole/whole.h" "#include \"../parts/parts.h\"\n#include \"name.h\"\n")
file(WRITE "${case_DIR}/src/second/name.h" "#define NAME 1\n")
file(WRITE "${case_DIR}/src/one.cpp" "#include \"whole.h\"\nint one() { return PARTS + NAME; }\n")
project_says(
  "cudaops_add_kernels(host SHARED SOURCES one.cpp two.cpp)
target_include_directories(host PRIVATE whole second)"
)
foreach(build IN ITEMS first second)
  case_configure(BUILD_DIR "${case_DIR}/${build}" ARGS -DCMAKE_BUILD_TYPE=Release)
  case_build(BUILD_DIR "${case_DIR}/${build}")
  if(build STREQUAL "first")
    expect_hits("the first place" 0 2)
  else()
    expect_hits("the second place" 2 0)
  endif()
endforeach()
# One that does hide another, by a detour as well.
file(WRITE "${case_DIR}/src/parts/name.h" "#define NAME 3\n")
file(WRITE "${case_DIR}/src/whole/name.h" "#include \"../parts/name.h\"\n")
case_configure(BUILD_DIR "${case_DIR}/third" ARGS -DCMAKE_BUILD_TYPE=Release)
case_build(BUILD_DIR "${case_DIR}/third")
file(GLOB_RECURSE objects "${case_DIR}/third/CMakeFiles/host.dir/*one.cpp.o")
case_step("the object" COMMAND objdump -d ${objects})
expect_stdout("\\\$0x4,%eax")
