# Another minor version of the same major is fine, and said.
fake_rocm("${case_DIR}/rocm" VERSION 6.2)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 6.4)
match(ARGS ${hip_ARGS})
expect_match(VERDICT COMPATIBLE HIP_ENABLED TRUE REASON_CODE "" ROCM_VERSION 6.2.41133)
expect_stdout("ROCm 6\\.2 and torch's HIP 6\\.4 differ in the minor version, which is fine inside one major")
