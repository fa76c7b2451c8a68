# QUIET says nothing at all.
fake_torch("${case_DIR}/venv" VERSION 2.15.0 CUDA 13.2)
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
fake_toolkit("${case_DIR}/stale" VERSION 12.4)
case_path("${case_DIR}/cuda/bin")
case_environment("CUDA_HOME=${case_DIR}/stale")
match(FIND QUIET ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(VERDICT COMPATIBLE CUDA_ENABLED TRUE)
refuse_stdout("CudaTorchMatch" "CudaOps")
