# STRICT passes a pair that is declared to fit: it is chosen before another minor version, and nothing is brought.
include("${case_TESTS_DIR}/fixtures/match.cmake")
use_fake_uv()
fake_torch("${case_DIR}/venv" VERSION 2.15.0 CUDA 13.2)
fake_toolkit("${case_DIR}/first" VERSION 13.1)
fake_toolkit("${case_DIR}/declared" VERSION 13.0)
case_path("${case_DIR}/first/bin" "${case_DIR}/declared/bin")
set(
  args
  "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python"
  -DCUDAOPS_VERSION_POLICY=STRICT
  -DCUDAOPS_COMPATIBLE_VERSIONS=13.0:13.2
)
match(ARGS ${args} -DCUDAOPS_PROVIDE=TOOLKIT)
expect_match(VERDICT COMPATIBLE TOOLKIT_VERSION 13.0.88 TOOLKIT_ROOT "${case_DIR}/declared")
expect_calls(0)

# And without CUDAOPS_PROVIDE.
file(REMOVE_RECURSE "${case_BUILD_DIR}")
match(ARGS ${args})
expect_match(VERDICT COMPATIBLE TOOLKIT_ROOT "${case_DIR}/declared")
