# Without REQUIRED every place tried is named as well.
fake_python("${case_DIR}/venv")
match(FIND "" ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(FOUND FALSE VERDICT NO_TORCH)
expect_stdout("no torch was found tried ${case_DIR}/venv/bin/python \\(Python_EXECUTABLE\\): Python [0-9.]+, no torch --")
