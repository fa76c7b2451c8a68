# CUDA required but impossible: an error, never "warning and skip". (nixl#2036)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0 NO_WHEELS)
match(FIND REQUIRED COMPONENTS CUDA ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
case_report_equal(NO_TOOLKIT reason_code)
