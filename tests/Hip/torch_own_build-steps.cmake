# A libtorch built at home, whose version says nothing of ROCm: its libraries do.
fake_rocm("${case_DIR}/rocm" VERSION 6.4)
fake_torch("${case_DIR}/libtorch" VERSION 2.13.0 ROCM 6.4 LAYOUT LIBTORCH LOCAL "")
match(ARGS "-DTorch_ROOT=${case_DIR}/libtorch" ${hip_ROCM} ${hip_ARCH})
expect_match(HIP_ENABLED TRUE CUDA_ENABLED FALSE TORCH_DIR "${case_DIR}/libtorch")
