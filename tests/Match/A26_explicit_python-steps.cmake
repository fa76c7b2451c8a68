# An interpreter that the user named is not passed over for another one.
fake_python("${case_DIR}/plain")
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU)
case_environment("VIRTUAL_ENV=${case_DIR}/venv")
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/plain/bin/python")
