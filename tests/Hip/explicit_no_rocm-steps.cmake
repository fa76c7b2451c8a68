# What was asked for is no ROCm.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 6.4)
file(MAKE_DIRECTORY "${case_DIR}/empty")
match(ARGS ${hip_TORCH} ${hip_ARCH} "-DROCm_ROOT=${case_DIR}/empty")
