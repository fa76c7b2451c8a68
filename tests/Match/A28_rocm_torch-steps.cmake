# A ROCm build of torch is recognised.
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 6.4)
match(ARGS "-DCUDAToolkit_ROOT=${case_DIR}/cuda" "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(VERDICT ROCM_TORCH REASON_CODE NO_HIP_COMPILER CUDA_ENABLED FALSE HIP_ENABLED FALSE languages CXX)
case_report(hip torch hip)
case_match("the report's torch.hip" "${hip}" "^6.4")
