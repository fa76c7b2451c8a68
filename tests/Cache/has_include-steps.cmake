# __has_include of names that the compiler's own headers could have: whoever has such a file gets another object than who
# has none, in whatever order; questions that the compiler's own headers answer are no reason to compile.
use_cache(ccache)
host_kernels()
project_says(
  "cudaops_add_kernels(host SHARED SOURCES one.cpp two.cpp)
target_include_directories(host PRIVATE inc)"
)
foreach(checkout IN ITEMS x y)
  file(COPY "${case_DIR}/src/" DESTINATION "${case_DIR}/${checkout}")
  file(MAKE_DIRECTORY "${case_DIR}/${checkout}/inc")
endforeach()
# sources(<question>): one.cpp asks it, in both checkouts.
function(sources)
  foreach(checkout IN ITEMS x y)
    file(
      WRITE "${case_DIR}/${checkout}/one.cpp"
      "#include <vector>\n#if ${ARGV0}\n#define VALUE 2\n#else\n#define VALUE 1\n#endif\nint one() { return VALUE; }\n"
    )
  endforeach()
endfunction()
# expect_in(<checkout> <value> <result>...): of one.cpp, compiled from the start.
function(expect_in checkout value)
  set(build "${case_DIR}/${checkout}/build")
  file(REMOVE_RECURSE "${build}/CudaOps/cache/compiles")
  file(GLOB_RECURSE objects "${build}/CMakeFiles/host.dir/*one.cpp.o")
  if(objects)
    file(REMOVE ${objects})
  endif()
  case_build(BUILD_DIR "${build}")
  file(STRINGS "${build}/CudaOps/cache/compiles" line REGEX "one\\.cpp\\.o$" ENCODING UTF-8)
  list(JOIN ARGN "|" results)
  case_match("the record of ${checkout}" "${line}" "^(${results}) ")
  file(GLOB_RECURSE objects "${build}/CMakeFiles/host.dir/*one.cpp.o")
  case_step("the object" COMMAND objdump -d ${objects})
  expect_stdout("\\\$0x${value},%eax")
endfunction()
foreach(checkout IN ITEMS x y)
  set(case_PROJECT_DIR "${case_DIR}/${checkout}")
  case_configure(BUILD_DIR "${case_DIR}/${checkout}/build" ARGS -DCMAKE_BUILD_TYPE=Release)
endforeach()

# The compiler has it.
sources("__has_include(<version>)")
expect_in(x 2 miss)
expect_in(y 2 hit)
file(WRITE "${case_DIR}/y/inc/version" "")
expect_in(y 2 hit miss)
expect_in(x 2 hit)
file(REMOVE "${case_DIR}/y/inc/version")

# It has none of that name; the project gets one, and loses it.
foreach(name IN ITEMS flat_map experimental/synchronized_value)
  sources("__has_include(<${name}>)")
  expect_in(x 1 miss)
  expect_in(y 1 hit)
  file(WRITE "${case_DIR}/y/inc/${name}" "")
  expect_in(y 2 "not cached")
  expect_in(y 2 "not cached")
  expect_in(x 1 hit)
  file(REMOVE_RECURSE "${case_DIR}/y/inc/experimental" "${case_DIR}/y/inc/flat_map")
  expect_in(y 1 hit)
endforeach()

# It is read as well: the entry names it.
sources("__has_include(<flat_map>)\n#include <flat_map>\n#endif\n#ifdef FLAT"
)
file(WRITE "${case_DIR}/y/inc/flat_map" "#define FLAT\n")
expect_in(y 2 miss)
expect_in(y 2 hit)
expect_in(x 1 miss)
expect_in(y 2 hit miss)
expect_in(x 1 hit)

# A file of such a name that nobody asks for.
sources("1")
expect_in(x 2 miss)
expect_in(y 2 miss)
expect_in(y 2 hit)
expect_in(x 2 hit)
file(REMOVE "${case_DIR}/y/inc/flat_map")

# The toolkit's names, where there is no toolkit.
sources("__has_include(<cuda/fast>)")
expect_in(x 1 "not cached")
file(WRITE "${case_DIR}/x/inc/cuda/fast" "")
expect_in(x 2 "not cached")

# The standard library's own question.
case_step(macros COMMAND "${case_CXX}" -dM -E -x c++ "${case_DIR}/x/one.cpp" -I "${case_DIR}/x/inc")
if(case_STEP_STDOUT MATCHES "_GLIBCXX_USE_TBB_PAR_BACKEND __has_include")
  sources("_GLIBCXX_USE_TBB_PAR_BACKEND")
  expect_in(x 1 miss)
  expect_in(y 1 hit)
  file(WRITE "${case_DIR}/y/inc/tbb/tbb.h" "")
  expect_in(y 2 "not cached")
  expect_in(x 1 hit)
endif()
