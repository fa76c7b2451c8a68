# The policy may come from the environment.
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
fake_torch("${case_DIR}/venv" VERSION 2.10.0 CUDA 12.8)
case_environment(CUDAOPS_VERSION_POLICY=WARN)
match(ARGS "-DCUDAToolkit_ROOT=${case_DIR}/cuda" "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(VERDICT MISMATCH CUDA_ENABLED TRUE)
