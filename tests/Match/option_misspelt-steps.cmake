# A misspelt option would do nothing and say nothing.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU)
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" -DCUDAOPS_PROVDE=TORCH)
expect_match(FOUND TRUE)
