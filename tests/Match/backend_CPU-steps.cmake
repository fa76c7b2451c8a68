# CUDAOPS_BACKEND=CPU: off, as requested.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" "-DCUDAToolkit_ROOT=${case_DIR}/cuda" -DCUDAOPS_BACKEND=CPU)
expect_match(FOUND TRUE REASON_CODE REQUESTED_OFF CUDA_ENABLED FALSE languages CXX)
