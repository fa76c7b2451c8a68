# torch upgraded in place: the next configure sees it.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0 NO_WHEELS)
fake_toolkit("${case_DIR}/cuda" VERSION 13.2)
case_path("${case_DIR}/cuda/bin")
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(VERDICT COMPATIBLE TORCH_VERSION 2.13.0+cu130)
fake_torch("${case_DIR}/venv" VERSION 2.15.0 CUDA 13.2 NO_WHEELS)
match()
expect_match(VERDICT EXACT TORCH_VERSION 2.15.0+cu132)
