# conda's toolkit in the active environment, headers only under targets/.
fake_torch("${case_DIR}/env" VERSION 2.13.0 CUDA 13.0 LAYOUT CONDA)
fake_toolkit("${case_DIR}/env" VERSION 13.0 LAYOUT CONDA)
case_environment("CONDA_PREFIX=${case_DIR}/env")
match()
expect_match(
  VERDICT EXACT CUDA_ENABLED TRUE TOOLKIT_ROOT "${case_DIR}/env" PYTHON_EXECUTABLE "${case_DIR}/env/bin/python3"
  TORCH_VERSION 2.13.0+cu130
)
