# CUDA_HOME is a hint: the better verdict wins, and the hint that lost is named. (k2#1158, gnina#263)
fake_toolkit("${case_DIR}/stale" VERSION 12.4)
fake_toolkit("${case_DIR}/cuda-13" VERSION 13.0)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
case_path("${case_DIR}/cuda-13/bin")
case_environment("CUDA_HOME=${case_DIR}/stale")
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(VERDICT EXACT TOOLKIT_ROOT "${case_DIR}/cuda-13")
expect_stdout(
  "-- CudaTorchMatch: environment CUDA_HOME names ${case_DIR}/stale \\(CUDA 12.4.131, MISMATCH\\); ${case_DIR}/cuda-13 \\(PATH\\) is used instead --"
)
