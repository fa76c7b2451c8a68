fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU)
match(FIND REQUIRED COMPONENTS CUDNN ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
