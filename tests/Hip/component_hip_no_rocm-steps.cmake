# COMPONENTS HIP with a ROCm torch and no ROCm.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 6.4)
match(FIND REQUIRED COMPONENTS HIP ARGS ${hip_TORCH})
