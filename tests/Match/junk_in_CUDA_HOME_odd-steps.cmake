# Blanks, semicolons and a single bracket.
fake_toolkit("${case_DIR}/cu da" VERSION 13.0)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
case_environment("CUDA_HOME=${case_DIR}/a;b[c" "CUDA_PATH=  ${case_DIR}/cu da  ")
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(VERDICT EXACT TOOLKIT_ROOT "${case_DIR}/cu da")
expect_stdout("-- CudaTorchMatch: passed over ${case_DIR}/a;b.c \\(environment CUDA_HOME\\): no bin/nvcc there --")
