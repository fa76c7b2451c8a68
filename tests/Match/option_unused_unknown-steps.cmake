# Nothing in this project has a test that would ask for it.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU)
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" -DCUDAOPS_SANITIZER=memchek)
