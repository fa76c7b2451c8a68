# An nvcc that can't run at all.
fake_toolkit("${case_DIR}/cuda" VERSION 13.0 FAILS "nvcc: cannot execute: required file not found")
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" "-DCUDAToolkit_ROOT=${case_DIR}/cuda")
case_report_equal(BROKEN_TOOLKIT reason_code)
