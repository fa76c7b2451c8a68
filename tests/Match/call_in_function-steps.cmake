# A language enabled inside a function is broken for the caller: refused, not left to a later mystery.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
match(
  BEFORE "function(outer)" AFTER "endfunction()\nouter()"
  ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" "-DCUDAToolkit_ROOT=${case_DIR}/cuda"
)
