# An explicit choice wins over a better one: COMPATIBLE, though PATH has EXACT.
fake_toolkit("${case_DIR}/chosen" VERSION 13.0)
fake_toolkit("${case_DIR}/better" VERSION 13.2)
fake_torch("${case_DIR}/venv" VERSION 2.15.0 CUDA 13.2)
case_path("${case_DIR}/better/bin")
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" "-DCUDAToolkit_ROOT=${case_DIR}/chosen")
expect_match(VERDICT COMPATIBLE TOOLKIT_ROOT "${case_DIR}/chosen")
