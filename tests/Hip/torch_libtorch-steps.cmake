# A libtorch zip for ROCm: no Python, no version.py.
fake_rocm("${case_DIR}/rocm" VERSION 6.4)
fake_torch("${case_DIR}/libtorch" VERSION 2.13.0 ROCM 6.4 LAYOUT LIBTORCH)
match(ARGS "-DTorch_ROOT=${case_DIR}/libtorch" ${hip_ROCM} ${hip_ARCH})
expect_match(VERDICT EXACT HIP_ENABLED TRUE TORCH_HIP_VERSION 6.4 TORCH_DIR "${case_DIR}/libtorch")
