# The same text as a warning, and the configure goes on with HIP.
fake_rocm("${case_DIR}/rocm" VERSION 5.7)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 6.4)
match(ARGS ${hip_ARGS} -DCUDAOPS_VERSION_POLICY=WARN)
expect_match(VERDICT MISMATCH HIP_ENABLED TRUE ROCM_VERSION 5.7.31921)
