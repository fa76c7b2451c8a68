# COMPONENTS CUDA without REQUIRED: not found, and the project goes on.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0 NO_WHEELS)
match(FIND COMPONENTS CUDA ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(FOUND FALSE VERDICT NO_TOOLKIT CUDA_ENABLED FALSE)
