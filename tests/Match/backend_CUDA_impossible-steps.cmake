# CUDAOPS_BACKEND=CUDA requires it too. (nixl#2036)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0 NO_WHEELS)
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" -DCUDAOPS_BACKEND=CUDA)
