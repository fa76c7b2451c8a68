# No cicc: nothing can be compiled with it.
fake_toolkit("${case_DIR}/broken" VERSION 13.0 WITHOUT CICC)
fake_toolkit("${case_DIR}/whole" VERSION 13.2)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0 NO_WHEELS)
case_path("${case_DIR}/broken/bin" "${case_DIR}/whole/bin")
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(VERDICT COMPATIBLE CUDA_ENABLED TRUE TOOLKIT_ROOT "${case_DIR}/whole")
expect_candidate(0 13.0.88 PATH EXACT "cicc")
