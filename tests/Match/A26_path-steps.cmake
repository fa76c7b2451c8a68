# Every python3 on PATH is asked: the second one has torch.
fake_python("${case_DIR}/plain")
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU)
case_path("${case_DIR}/plain/bin" "${case_DIR}/venv/bin")
match()
expect_match(TORCH_VERSION 2.13.0+cpu PYTHON_EXECUTABLE "${case_DIR}/venv/bin/python3")
