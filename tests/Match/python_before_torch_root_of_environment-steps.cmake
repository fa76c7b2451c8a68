# Torch_ROOT of the environment has no torch; a variable says which interpreter's is meant.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU)
file(MAKE_DIRECTORY "${case_DIR}/empty")
case_environment("Torch_ROOT=${case_DIR}/empty")
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(FOUND TRUE TORCH_VERSION 2.13.0+cpu VERDICT CPU_TORCH)
