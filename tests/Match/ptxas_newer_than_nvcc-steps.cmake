# nvcc 12.6 with ptxas 12.8 is fine.
fake_toolkit("${case_DIR}/cuda" VERSION 12.6 PTXAS_VERSION 12.8)
fake_torch("${case_DIR}/venv" VERSION 2.9.0 CUDA 12.6)
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" "-DCUDAToolkit_ROOT=${case_DIR}/cuda")
expect_match(VERDICT EXACT CUDA_ENABLED TRUE)
expect_candidate(0 12.6.85 CUDAToolkit_ROOT EXACT)
