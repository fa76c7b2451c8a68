# With ccache: an edit that one architecture sees compiles only that one, and one that none sees compiles none; an older
# state, a new build tree and the same kernels compiled together find what is there. What comes from the cache is what
# an uncached compile makes.
# What compilers say comes on stdout there.
set(case_GENERATOR Ninja)
real_machine()
if(NOT real_TORCH)
  return()
endif()
use_cache(ccache)
file(COPY "${case_SUITE}/common/" DESTINATION "${case_DIR}/src")
two_projects("${kinds_CODE}" ARGS "-DTORCH_CUDA_ARCH_LIST=8.0 9.0+PTX")
set(apart "${case_DIR}/apart")
set(together "${case_DIR}/together")

case_build(BUILD_DIR "${apart}" ARGS --parallel 2)
# Two architectures, each by its command and by its text, and the object.
expect_hits("first" 0 5)
file(READ "${case_DIR}/src/kinds.cu" original)

# Seen by 9.0 and later; a line more.
string(REPLACE "NEW_VALUE + tile" "NEW_VALUE\n      + 2 * tile" text "${original}")
file(WRITE "${case_DIR}/src/kinds.cu" "${text}")
case_build(BUILD_DIR "${apart}" ARGS --parallel 2)
expect_hits("an edit under a guard" 1 4)
case_configure(BUILD_DIR "${together}" ARGS -DCUDAOPS_CACHE=OFF)
case_build(BUILD_DIR "${together}")
expect_equal_code("an edit under a guard" libkinds.so)

# Seen by nobody: lines that comments take.
file(
  WRITE "${case_DIR}/src/kinds.cu"
  "// one\n// two\n// three\n// four\n// five\n// six\n// seven\n// eight\n// nine\n${text}"
)
case_build(BUILD_DIR "${apart}" ARGS --parallel 2)
expect_hits("an edit that moves lines" 2 3)
case_build(BUILD_DIR "${together}")
expect_equal_code("an edit that moves lines" libkinds.so)

# Where lines count, they do.
string(REPLACE "x[0] = 2 +" "x[0] = __LINE__ +" text "${text}")
file(WRITE "${case_DIR}/src/kinds.cu" "${text}")
case_build(BUILD_DIR "${apart}" ARGS --parallel 2)
expect_hits("a line number in the code" 1 4)
file(WRITE "${case_DIR}/src/kinds.cu" "// one more\n${text}")
case_build(BUILD_DIR "${apart}" ARGS --parallel 2)
expect_hits("a line number in the code, moved" 1 4)
case_build(BUILD_DIR "${together}")
expect_equal_code("a line number in the code, moved" libkinds.so)

# The older state, and the object of all architectures, whoever has made it.
file(WRITE "${case_DIR}/src/kinds.cu" "${original}")
case_build(BUILD_DIR "${apart}" ARGS --parallel 2)
expect_hits("the first state again" 3 0)
case_configure(BUILD_DIR "${case_DIR}/third" ARGS -DCMAKE_BUILD_TYPE=Release "-DTORCH_CUDA_ARCH_LIST=8.0 9.0+PTX")
case_build(BUILD_DIR "${case_DIR}/third")
expect_hits("compiled together" 1 0)

# The report knows the launcher of the steps for the cache's own.
file(READ "${apart}/cudaops-report.json" report)
foreach(member IN ITEMS launcher problem)
  string(JSON ${member} GET "${report}" cache ${member})
endforeach()
case_equal("cache.launcher" "${launcher}" ccache)
case_equal("cache.problem" "${problem}" "")
