# Toolkit and torch of one release: EXACT, CUDA is on. (pytorch#73047, pytorch#113550)
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
match(ARGS "-DCUDAToolkit_ROOT=${case_DIR}/cuda" "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(
  FOUND TRUE VERDICT EXACT REASON_CODE "" REASON ""
  TORCH_VERSION 2.13.0+cu130 TORCH_CUDA_VERSION 13.0 TORCH_DIR "${case_DIR}/venv/lib/python${case_PYTHON_VERSION}/site-packages/torch"
  PYTHON_EXECUTABLE "${case_DIR}/venv/bin/python"
  TOOLKIT_VERSION 13.0.88 TOOLKIT_ROOT "${case_DIR}/cuda" NVCC "${case_DIR}/cuda/bin/nvcc"
  CUDA_ENABLED TRUE HIP_ENABLED FALSE
  languages "CUDA;CXX" CMAKE_CUDA_COMPILER "${case_DIR}/cuda/bin/nvcc" CMAKE_CUDA_COMPILER_VERSION 13.0.88 CMAKE_CUDA_FLAGS ""
)
case_report_equal(0.1.0 cudaops)
case_report_equal(13.0 torch cuda)
case_report_equal("CUDAToolkit_ROOT" toolkit source)
expect_candidate(0 13.0.88 CUDAToolkit_ROOT EXACT)
