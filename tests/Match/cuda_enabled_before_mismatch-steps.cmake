fake_torch("${case_DIR}/venv" VERSION 2.10.0 CUDA 12.8)
fake_toolkit("${case_DIR}/enabled" VERSION 13.0)
case_path("${case_DIR}/enabled/bin")
match(LANGUAGES CXX CUDA ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
