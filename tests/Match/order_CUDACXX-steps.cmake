# CUDACXX is explicit too: it wins over a better toolkit in CUDA_HOME and on PATH.
fake_toolkit("${case_DIR}/chosen" VERSION 13.0)
fake_toolkit("${case_DIR}/better" VERSION 13.2)
fake_torch("${case_DIR}/venv" VERSION 2.15.0 CUDA 13.2)
case_path("${case_DIR}/better/bin")
case_environment("CUDACXX=${case_DIR}/chosen/bin/nvcc" "CUDA_HOME=${case_DIR}/better")
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(VERDICT COMPATIBLE TOOLKIT_ROOT "${case_DIR}/chosen")
case_report_equal("environment CUDACXX" toolkit source)
