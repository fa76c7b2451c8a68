# Without REQUIRED a missing torch is no error: the best toolkit is enabled, kernels can be built.
# (pytorch#73047, pytorch#113550)
fake_toolkit("${case_DIR}/cuda" VERSION 12.8)
match(FIND "" ARGS "-DCUDAToolkit_ROOT=${case_DIR}/cuda")
expect_match(
  FOUND FALSE VERDICT NO_TORCH REASON_CODE NO_TORCH CUDA_ENABLED TRUE NVCC "${case_DIR}/cuda/bin/nvcc"
  TORCH_VERSION "" languages "CUDA;CXX"
)
