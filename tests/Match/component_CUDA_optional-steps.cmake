# As an optional component CUDA may be missing.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0 NO_WHEELS)
match(FIND REQUIRED OPTIONAL_COMPONENTS CUDA ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" AFTER "message(STATUS \"component [\${CudaTorchMatch_CUDA_FOUND}]\")")
expect_match(FOUND TRUE CUDA_ENABLED FALSE)
expect_stdout("component .FALSE.")
