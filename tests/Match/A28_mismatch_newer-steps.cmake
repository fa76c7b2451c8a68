# Another major version stops, with both versions and where each came from.
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
fake_torch("${case_DIR}/venv" VERSION 2.10.0 CUDA 12.8)
match(ARGS "-DCUDAToolkit_ROOT=${case_DIR}/cuda" "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
case_report_equal(MISMATCH verdict)
case_report_equal(MISMATCH reason_code)
expect_candidate(0 13.0.88 CUDAToolkit_ROOT MISMATCH)
