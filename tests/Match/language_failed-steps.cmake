# A toolkit that looks whole and compiles nothing: LANGUAGE_FAILED with the compiler's own error, no crash.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
file(WRITE "${case_DIR}/cuda/include/cuda_runtime.h" "#error this header is damaged\n")
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" "-DCUDAToolkit_ROOT=${case_DIR}/cuda")
expect_match(FOUND TRUE VERDICT EXACT REASON_CODE LANGUAGE_FAILED CUDA_ENABLED FALSE languages CXX)
