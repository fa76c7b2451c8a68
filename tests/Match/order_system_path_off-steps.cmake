# What the suite relies on: CMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH=OFF leaves out PATH.
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
case_path("${case_DIR}/cuda/bin")
match(BEFORE "set(CMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH OFF)" ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(VERDICT NO_TOOLKIT CUDA_ENABLED FALSE)
