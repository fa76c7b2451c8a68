# A translation that fails: one sentence from the build, no translation of that source, the others are there. Mended, the
# build goes on from there.
hip_machine()
source(a.cu "#include <x.h>" "int a() { return 1; }"
)
source(b.cu "int b() { return 1; }")
source(one/x.h "int one;")
configure(
  [[
cudaops_add_kernels(k SOURCES a.cu b.cu)
target_include_directories(k PRIVATE one two)
]]
)
case_build()
source(two/x.h "int two;")
source(a.cu "#include <x.h>" "int a() { return 2; }"
)
set(keep -k)
if(case_GENERATOR STREQUAL "Ninja")
  set(keep -k 0)
endif()
set(result 2)
if(case_GENERATOR STREQUAL "Ninja")
  set(result 1)
endif()
case_build(RESULT ${result} ARGS -- ${keep})
case_match(
  "what is said"
  "${case_STEP_STDOUT}${case_STEP_STDERR}"
  "${case_DIR}/src/a\\.cu:1: error: x\\.h is found twice, with different content\\. found ${case_DIR}/src/one/x\\.h found ${case_DIR}/src/two/x\\.h Fix: include it by a path that only one of them has"
)
set_property(GLOBAL PROPERTY case_STDERR "")
if(EXISTS "${case_BUILD_DIR}/k.hipified/a.cu")
  case_fail("the old translation of a.cu is still there")
endif()
file(REMOVE_RECURSE "${case_DIR}/src/two")
case_build()
expect_commands("translate a.cu" "compile a.cu")
case_build()
expect_commands()
