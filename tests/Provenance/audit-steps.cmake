case_project(PRELUDE "set(case_PYTHON [==[${case_PYTHON}]==])")
case_configure()
case_build()
case_ctest(ARGS -V -E missing)
case_match("good" "${case_STEP_STDOUT}" "libgood.so holds sm_90a compute_120, as asked for\\.")
case_match("more" "${case_STEP_STDOUT}" "libmore.so holds sm_90a, as asked for \\(and compute_120\\)\\.")
case_match("only where something is expected" "${case_STEP_STDOUT}" "100% tests passed(, 0 tests failed)? out of 2")
# ctest adds lines of its own to stderr.
case_ctest(RESULT 8 ARGS -R missing)
case_match(
  "missing"
  "${case_STEP_STDOUT}"
  "architectures\\(libmissing.so\\): the library must hold device code for every architecture that was asked for\\. missing sm_100f compute_90 asked for sm_90a sm_100f compute_90 found sm_90a compute_120 in .*libmissing.so Fix: build it again from clean"
)
set_property(GLOBAL PROPERTY case_STDERR "")
