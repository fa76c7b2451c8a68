# HIP asked for and not to be had: an error.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0 NO_WHEELS)
match(ARGS ${hip_TORCH} -DCUDAOPS_BACKEND=HIP)
