# Two toolkits, neither of them whole: both are named, with what is wrong.
fake_toolkit("${case_DIR}/hint" VERSION 12.4 WITHOUT PTXAS)
fake_toolkit("${case_DIR}/path" VERSION 11.5 WITHOUT CUDART)
fake_torch("${case_DIR}/venv" VERSION 2.9.0 CUDA 12.4)
case_path("${case_DIR}/path/bin")
case_environment("CUDA_HOME=${case_DIR}/hint")
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(VERDICT EXACT REASON_CODE BROKEN_TOOLKIT CUDA_ENABLED FALSE TOOLKIT_ROOT "${case_DIR}/hint")
