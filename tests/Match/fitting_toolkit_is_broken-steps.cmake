# The toolkit that fits is broken, another one is whole and of another major: the one that fits is named.
# (k2#1158, gnina#263)
fake_toolkit("${case_DIR}/fits" VERSION 12.4 WITHOUT PTXAS)
fake_toolkit("${case_DIR}/whole" VERSION 13.0)
fake_torch("${case_DIR}/venv" VERSION 2.9.1 CUDA 12.4)
case_environment("CUDA_HOME=${case_DIR}/fits")
case_path("${case_DIR}/whole/bin")
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(VERDICT EXACT REASON_CODE BROKEN_TOOLKIT CUDA_ENABLED FALSE TOOLKIT_ROOT "${case_DIR}/fits")
