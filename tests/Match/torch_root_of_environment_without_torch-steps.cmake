# The environment is kept in the build directory: a variable that is unset alone changes nothing there.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU)
file(MAKE_DIRECTORY "${case_DIR}/empty")
case_environment("VIRTUAL_ENV=${case_DIR}/venv" "Torch_ROOT=${case_DIR}/empty")
match()
