# A torch without version.py says nothing about itself; named with its path.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU WITHOUT VERSION_FILE HEADERS)
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
