# CMAKE_CUDA_COMPILER is explicit, also where a mismatch follows from it.
fake_toolkit("${case_DIR}/chosen" VERSION 12.8)
fake_toolkit("${case_DIR}/better" VERSION 13.2)
fake_torch("${case_DIR}/venv" VERSION 2.15.0 CUDA 13.2)
case_path("${case_DIR}/better/bin")
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" "-DCMAKE_CUDA_COMPILER=${case_DIR}/chosen/bin/nvcc")
case_report_equal(MISMATCH verdict)
