# The same text as a warning, and the configure goes on with CUDA.
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
fake_torch("${case_DIR}/venv" VERSION 2.10.0 CUDA 12.8)
match(ARGS "-DCUDAToolkit_ROOT=${case_DIR}/cuda" "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" -DCUDAOPS_VERSION_POLICY=WARN)
expect_match(VERDICT MISMATCH CUDA_ENABLED TRUE NVCC "${case_DIR}/cuda/bin/nvcc")
