# Another minor version of the same major: one STATUS line, CUDA is on. (pytorch#73047, pytorch#113550)
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
fake_torch("${case_DIR}/venv" VERSION 2.15.0 CUDA 13.2)
match(ARGS "-DCUDAToolkit_ROOT=${case_DIR}/cuda" "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(VERDICT COMPATIBLE REASON_CODE "" CUDA_ENABLED TRUE TOOLKIT_VERSION 13.0.88 TORCH_CUDA_VERSION 13.2)
expect_stdout(
  "-- CudaTorchMatch: toolkit CUDA 13.0 and torch's CUDA 13.2 differ in the minor version, which is fine inside one major --"
)
