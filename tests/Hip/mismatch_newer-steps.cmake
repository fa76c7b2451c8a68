# ROCm 7 for a torch of ROCm 6: a newer runtime has another name (libamdhip64.so.7).
fake_rocm("${case_DIR}/rocm" VERSION 7.0)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 6.4)
case_environment("ROCM_PATH=${case_DIR}/rocm")
match(ARGS ${hip_TORCH} ${hip_ARCH})
