# What find_package(Python3) leaves behind counts too.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU)
match(ARGS "-DPython3_EXECUTABLE=${case_DIR}/venv/bin/python3")
expect_match(TORCH_VERSION 2.13.0+cpu PYTHON_EXECUTABLE "${case_DIR}/venv/bin/python3")
