# CUDA asked for with a ROCm torch.
hip_machine()
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
match(ARGS ${hip_ARGS} "-DCUDAToolkit_ROOT=${case_DIR}/cuda" -DCUDAOPS_BACKEND=CUDA)
