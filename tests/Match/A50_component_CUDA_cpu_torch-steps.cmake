# The same with a CPU build of torch.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU)
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
match(FIND REQUIRED COMPONENTS CUDA ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" "-DCUDAToolkit_ROOT=${case_DIR}/cuda")
case_report_equal(CPU_TORCH reason_code)
