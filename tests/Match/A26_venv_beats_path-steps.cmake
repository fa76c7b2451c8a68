# python3 on PATH has no torch, the active environment has.
fake_python("${case_DIR}/plain")
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU)
case_path("${case_DIR}/plain/bin")
case_environment("VIRTUAL_ENV=${case_DIR}/venv")
match()
expect_match(TORCH_VERSION 2.13.0+cpu PYTHON_EXECUTABLE "${case_DIR}/venv/bin/python3")
