# Without CUDA nothing is enabled, so nothing is wrong with it.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU)
match(BEFORE "function(outer)" AFTER "endfunction()\nouter()" ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(FOUND TRUE VERDICT CPU_TORCH)
