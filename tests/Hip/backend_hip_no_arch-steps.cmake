# HIP asked for and no architecture known.
fake_rocm("${case_DIR}/rocm" VERSION 6.4)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU)
match(ARGS ${hip_TORCH} ${hip_ROCM} -DCUDAOPS_BACKEND=HIP)
