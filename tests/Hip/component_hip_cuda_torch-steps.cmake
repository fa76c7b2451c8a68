# COMPONENTS HIP with a CUDA torch, a ROCm at hand.
fake_rocm("${case_DIR}/rocm" VERSION 6.4)
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0 NO_WHEELS)
match(FIND REQUIRED COMPONENTS HIP ARGS ${hip_ARGS} "-DCUDAToolkit_ROOT=${case_DIR}/cuda")
