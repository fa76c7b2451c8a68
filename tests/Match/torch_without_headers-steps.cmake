# An incomplete torch: what is missing is named, it is not "not installed".
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0 NO_WHEELS WITHOUT HEADERS)
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" "-DCUDAToolkit_ROOT=${case_DIR}/cuda")
expect_match(TORCH_VERSION 2.13.0+cu130)
expect_stdout("no headers")
