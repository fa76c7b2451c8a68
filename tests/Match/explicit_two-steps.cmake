# Two settings that name two toolkits contradict each other.
fake_toolkit("${case_DIR}/a" VERSION 13.0)
fake_toolkit("${case_DIR}/b" VERSION 13.2)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" "-DCUDAToolkit_ROOT=${case_DIR}/a" "-DCMAKE_CUDA_COMPILER=${case_DIR}/b/bin/nvcc")
