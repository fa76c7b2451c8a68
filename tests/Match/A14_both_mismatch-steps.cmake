# None fits: the error shows every toolkit that was found.
fake_toolkit("${case_DIR}/a" VERSION 11.8)
fake_toolkit("${case_DIR}/b" VERSION 12.4)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
case_path("${case_DIR}/a/bin" "${case_DIR}/b/bin")
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_candidate(0 11.8.89 PATH MISMATCH)
expect_candidate(1 12.4.131 PATH MISMATCH)
