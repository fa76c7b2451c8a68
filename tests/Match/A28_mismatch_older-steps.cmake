# Another major version stops, with both versions and where each came from.
fake_toolkit("${case_DIR}/cuda" VERSION 12.8)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
match(ARGS "-DCUDAToolkit_ROOT=${case_DIR}/cuda" "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
case_report_equal(MISMATCH verdict)
case_report_equal(MISMATCH reason_code)
expect_candidate(0 12.8.93 CUDAToolkit_ROOT MISMATCH)
