# HIP asked for with a CUDA torch: it is on, the toolkit beside it isn't, and the verdict says that torch is another.
fake_rocm("${case_DIR}/rocm" VERSION 6.4)
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0 NO_WHEELS)
case_path("${case_DIR}/cuda/bin")
hip_library(library)
match(ARGS ${hip_ARGS} -DCUDAOPS_BACKEND=HIP AFTER "${library}")
expect_match(
  VERDICT CUDA_TORCH
  REASON_CODE ""
  HIP_ENABLED TRUE
  CUDA_ENABLED FALSE
  NVCC ""
  TORCH_CUDA_VERSION 13.0
  TORCH_HIP_VERSION ""
  ROCM_VERSION 6.4.43482
  languages "CXX;HIP"
)
case_report_equal(HIP backend)
case_build()
expect_code_objects("${case_BUILD_DIR}/libkernel.so" gfx90a)
