# A file that is no program is junk as well: a hint breaks nothing.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0 NO_WHEELS)
file(WRITE "${case_DIR}/file" "not a program\n")
case_environment("CUDA_HOME=${case_DIR}/file")
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(VERDICT NO_TOOLKIT REASON_CODE NO_TOOLKIT CUDA_ENABLED FALSE)
expect_stdout("-- CudaTorchMatch: passed over ${case_DIR}/file \\(environment CUDA_HOME\\)")
