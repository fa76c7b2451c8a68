# A header that is read by way of another directory ("../parts/parts.h" from a directory that -I names) lies in
# parts/../parts too: no file that hides it, and what the cache has of it is taken.
use_cache(ccache)
host_kernels()
file(WRITE "${case_DIR}/src/parts/parts.h" "#define PARTS 1\n")
file(WRITE "${case_DIR}/src/whole/whole.h" "#include \"../linked/first.h\"\n#include \"name.h\"\n")
file(WRITE "${case_DIR}/src/second/name.h" "#define NAME 1\n")
file(WRITE "${case_DIR}/elsewhere/linked/first.h" "#include \"../parts/parts.h\"\n")
file(CREATE_LINK "${case_DIR}/elsewhere/linked" "${case_DIR}/src/linked" SYMBOLIC)
file(WRITE "${case_DIR}/src/one.cpp" "#include \"whole.h\"\nint one() { return PARTS + NAME; }\n")
project_says(
  "cudaops_add_kernels(host SHARED SOURCES one.cpp two.cpp)
target_include_directories(host PRIVATE whole second)"
)
# expect_in(<build> <hit or miss> <value>): of one.cpp in a new build directory.
function(expect_in build result value)
  case_configure(BUILD_DIR "${case_DIR}/${build}" ARGS -DCMAKE_BUILD_TYPE=Release)
  case_build(BUILD_DIR "${case_DIR}/${build}")
  file(STRINGS "${case_DIR}/${build}/CudaOps/cache/compiles" line REGEX "one\\.cpp\\.o$" ENCODING UTF-8)
  case_match("the record of ${build}" "${line}" "^${result} ")
  file(GLOB_RECURSE objects "${case_DIR}/${build}/CMakeFiles/host.dir/*one.cpp.o")
  case_step("the object" COMMAND objdump -d ${objects})
  expect_stdout("\\\$0x${value},%eax")
endfunction()
expect_in(first miss 2)
expect_in(second hit 2)

# Those that do hide another: by a detour as well, and where ".." of a link leads.
file(WRITE "${case_DIR}/src/parts/name.h" "#define NAME 3\n")
file(WRITE "${case_DIR}/src/whole/name.h" "#include \"../parts/name.h\"\n")
expect_in(third miss 4)
file(WRITE "${case_DIR}/elsewhere/parts/parts.h" "#define PARTS 5\n")
expect_in(fourth miss 8)
