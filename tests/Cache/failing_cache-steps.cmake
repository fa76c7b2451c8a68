# A cache that dies in whatever way: one line for the build, and the build is right. (pytorch#155464)
host_kernels()
set(number 0)
foreach(
  code
  IN
  ITEMS
    "echo 'ccache: error: out of luck' >&2; exit 1"
    "kill -9 $$"
    "kill -11 $$"
    "exit 254"
    "exit 0"
    "\"$@\"; rm -f CMakeFiles/host.dir/*.o; exit 1"
)
  math(EXPR number "${number} + 1")
  fake_cache(ccache "version 4.14" "${code}")
  set(build "${case_DIR}/build${number}")
  case_configure(BUILD_DIR "${build}")
  case_build(BUILD_DIR "${build}" ARGS -j1)
  string(REGEX MATCHALL "CudaOps: ccache failed and is left out for a minute: [^\n]+" lines "${case_STEP_STDOUT}")
  list(LENGTH lines count)
  case_equal("lines about [${code}]" "${count}" 1)
  case_step("both files are in it" COMMAND nm -D "${build}/libhost.so")
  expect_stdout("T _Z3onev" "T _Z3twov")
endforeach()

# One that does nothing, where an object of before lies.
fake_cache(ccache "version 4.14" "exit 0")
file(REMOVE_RECURSE "${case_DIR}/build1/CudaOps/cache/failed")
file(WRITE "${case_DIR}/src/one.cpp" "int another() { return 1; }\n")
case_build(BUILD_DIR "${case_DIR}/build1" ARGS -j1)
expect_stdout("CudaOps: ccache failed and is left out for a minute: it made no object")
case_step("the new one is in it" COMMAND nm -D "${case_DIR}/build1/libhost.so")
expect_stdout("T _Z7anotherv")

# The compiler's own failure is shown once, with its exit code, and isn't the cache's.
fake_cache(ccache "version 4.14")
file(WRITE "${case_DIR}/src/one.cpp" "int one() { return nothing; }\n")
case_configure(BUILD_DIR "${case_DIR}/fails")
case_build(RESULT 1 BUILD_DIR "${case_DIR}/fails" ARGS -j1)
string(REGEX MATCHALL "error: [^\n]*nothing[^\n]*" lines "${case_STEP_STDOUT}${case_STEP_STDERR}")
list(LENGTH lines count)
case_equal("errors shown" "${count}" 1)
case_not_match("what is said" "${case_STEP_STDOUT}" "left out")
set_property(GLOBAL PROPERTY case_STDERR "")

# sccache tells whose failure it is by its words only.
fake_cache(sccache 0.16.0 "\"$@\"")
case_configure(BUILD_DIR "${case_DIR}/sccache" ARGS -DCUDAOPS_CACHE=sccache)
case_build(RESULT 1 BUILD_DIR "${case_DIR}/sccache" ARGS -j1)
string(REGEX MATCHALL "error: [^\n]*nothing[^\n]*" lines "${case_STEP_STDOUT}${case_STEP_STDERR}")
list(LENGTH lines count)
case_equal("errors shown" "${count}" 1)
case_not_match("what is said" "${case_STEP_STDOUT}" "left out")
set_property(GLOBAL PROPERTY case_STDERR "")
fake_cache(sccache 0.16.0 "echo 'sccache: error: no server' >&2; exit 2")
file(WRITE "${case_DIR}/src/one.cpp" "int one() { return 1; }\n")
case_build(BUILD_DIR "${case_DIR}/sccache" ARGS -j1)
string(REGEX MATCHALL "CudaOps: sccache failed[^\n]*" lines "${case_STEP_STDOUT}")
case_equal("the line" "${lines}" "CudaOps: sccache failed and is left out for a minute: sccache: error: no server")

# The programs that the settings name are gone.
file(WRITE "${case_DIR}/src/one.cpp" "int one() { return 1; }\n")
file(REMOVE "${case_DIR}/bin/ccache")
case_build(BUILD_DIR "${case_DIR}/fails" ARGS -j1)
expect_stdout("CudaOps: ccache failed and is left out for a minute: ")
