# Headers of another release than nvcc: broken.
fake_toolkit("${case_DIR}/broken" VERSION 12.8 HEADERS_VERSION 12.4)
fake_torch("${case_DIR}/venv" VERSION 2.10.0 CUDA 12.8)
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" "-DCUDAToolkit_ROOT=${case_DIR}/broken")
case_report_equal(BROKEN_TOOLKIT reason_code)
