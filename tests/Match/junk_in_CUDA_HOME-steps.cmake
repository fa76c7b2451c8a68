# A leading ':' and a directory without a toolkit are listed with their value and passed over.
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
file(MAKE_DIRECTORY "${case_DIR}/empty")
case_path("${case_DIR}/cuda/bin")
case_environment("CUDA_HOME=:${case_DIR}/cuda" "CUDA_PATH=${case_DIR}/empty")
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(VERDICT EXACT TOOLKIT_ROOT "${case_DIR}/cuda")
expect_stdout(
  "-- CudaTorchMatch: passed over :${case_DIR}/cuda \\(environment CUDA_HOME\\): no bin/nvcc there --"
  "-- CudaTorchMatch: passed over ${case_DIR}/empty \\(environment CUDA_PATH\\): no bin/nvcc there --"
)
