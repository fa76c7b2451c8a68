# What is asked for can't be had; the project is configured all the same.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU)
file(WRITE "${case_DIR}/file" "")
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" "-DCUDAOPS_STORE=${case_DIR}/file")
expect_match(FOUND TRUE)
