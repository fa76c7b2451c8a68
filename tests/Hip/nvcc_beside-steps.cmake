# A CUDA toolkit beside a ROCm torch changes nothing, however it is named; a ROCm beside a CUDA torch neither.
hip_machine()
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
fake_torch("${case_DIR}/other" VERSION 2.13.0 CUDA 13.0 NO_WHEELS)
case_path("${case_DIR}/cuda/bin" "${case_DIR}/rocm/bin")
case_environment("CUDA_HOME=${case_DIR}/cuda" "ROCM_PATH=${case_DIR}/rocm" PYTORCH_ROCM_ARCH=gfx942 TORCH_CUDA_ARCH_LIST=9.0)
match(ARGS ${hip_TORCH})
expect_match(
  VERDICT EXACT
  HIP_ENABLED TRUE
  CUDA_ENABLED FALSE
  NVCC ""
  TOOLKIT_VERSION ""
  CMAKE_CUDA_ARCHITECTURES ""
  ARCHITECTURES gfx942
  languages "CXX;HIP"
)
refuse_stdout("${case_DIR}/cuda" "CUDA compiler" "TORCH_CUDA_ARCH_LIST")
file(REMOVE_RECURSE "${case_BUILD_DIR}")
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/other/bin/python")
expect_match(
  VERDICT EXACT
  HIP_ENABLED FALSE
  CUDA_ENABLED TRUE
  NVCC "${case_DIR}/cuda/bin/nvcc"
  ROCM_VERSION ""
  CMAKE_HIP_ARCHITECTURES ""
  ARCHITECTURES 90-real
  languages "CUDA;CXX"
)
refuse_stdout("gfx942" "${case_DIR}/rocm")
