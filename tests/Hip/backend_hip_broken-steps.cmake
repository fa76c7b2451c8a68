# HIP asked for, and the only ROCm lacks a piece: a warning is not enough.
fake_rocm("${case_DIR}/rocm" VERSION 6.4 WITHOUT RUNTIME)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU)
case_environment("ROCM_PATH=${case_DIR}/rocm")
match(ARGS ${hip_TORCH} ${hip_ARCH} -DCUDAOPS_BACKEND=HIP)
