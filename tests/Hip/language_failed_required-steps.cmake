# The same where HIP is required.
fake_rocm("${case_DIR}/rocm" VERSION 6.4)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU)
file(WRITE "${case_DIR}/rocm/include/hip/hip_runtime.h" "#error this header is of another compiler\n")
match(ARGS ${hip_ARGS} -DCUDAOPS_BACKEND=HIP)
