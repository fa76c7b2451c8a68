fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
match(BEFORE "macro(outer)" AFTER "endmacro()\nouter()" ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" "-DCUDAToolkit_ROOT=${case_DIR}/cuda")
expect_match(VERDICT EXACT CUDA_ENABLED TRUE)
