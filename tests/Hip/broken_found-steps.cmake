# A broken ROCm that was only found is no error: HIP is off, with a warning that says what is wrong.
fake_rocm("${case_DIR}/rocm" VERSION 6.4 WITHOUT DEVICE_LIBS)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 6.4)
case_path("${case_DIR}/rocm/bin")
match(ARGS ${hip_TORCH} ${hip_ARCH})
expect_match(VERDICT EXACT HIP_ENABLED FALSE REASON_CODE BROKEN_ROCM languages CXX)
expect_candidate(0 6.4.43482 PATH EXACT "no device libraries \\(amdgcn/bitcode/ocml\\.bc\\)")
