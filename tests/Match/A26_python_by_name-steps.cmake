# An interpreter may be named as on the command line.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU)
case_path("${case_DIR}/venv/bin")
match(ARGS -DPython_EXECUTABLE=python3)
expect_match(VERDICT CPU_TORCH PYTHON_EXECUTABLE "${case_DIR}/venv/bin/python3")
