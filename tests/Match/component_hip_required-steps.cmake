# COMPONENTS HIP with a torch that isn't built for ROCm.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU)
match(FIND REQUIRED COMPONENTS HIP ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
