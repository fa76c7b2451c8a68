# pip's nvcc of one release beside cicc and crt of another: named as broken, with both versions and the line that mends it.
fake_torch("${case_DIR}/venv" VERSION 2.15.0 CUDA 13.2)
set(site "${case_DIR}/venv/lib/python${case_PYTHON_VERSION}/site-packages")
file(GLOB stale "${site}/nvidia_*")
file(REMOVE_RECURSE ${stale})
fake_toolkit("${site}" VERSION 13.2 LAYOUT PIP CICC_VERSION 13.5 CRT_VERSION 13.5)
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(FOUND TRUE REASON_CODE BROKEN_TOOLKIT CUDA_ENABLED FALSE languages CXX)
expect_candidate(0 13.2.78 "wheels beside torch" EXACT "nvcc and ptxas are 13.2.78, but nvidia-nvvm is 13.5.20, and .*nvidia-cuda-crt is 13.5.20")
