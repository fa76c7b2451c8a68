# One build tree has one match.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU)
fake_torch("${case_DIR}/other" VERSION 2.15.0 CPU)
match(
  AFTER "set(Python_EXECUTABLE \"${case_DIR}/other/bin/python\")\nfind_package(CudaTorchMatch REQUIRED)"
  ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python"
)
