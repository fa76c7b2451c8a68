# A place that the user named is not passed over for another torch.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU)
case_environment("VIRTUAL_ENV=${case_DIR}/venv")
file(MAKE_DIRECTORY "${case_DIR}/empty")
match(ARGS "-DTorch_ROOT=${case_DIR}/empty")
