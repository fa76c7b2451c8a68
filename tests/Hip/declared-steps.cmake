# A pair that the user declares to fit does, and one declared not to fit doesn't.
fake_rocm("${case_DIR}/rocm" VERSION 5.7)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 6.4)
match(ARGS ${hip_ARGS} "-DCUDAOPS_COMPATIBLE_VERSIONS=5.7:6.4")
expect_match(VERDICT COMPATIBLE HIP_ENABLED TRUE)
expect_stdout("ROCm 5\\.7 and torch's HIP 6\\.4 are declared to fit by CUDAOPS_COMPATIBLE_VERSIONS")
match(ARGS ${hip_ARGS} "-DCUDAOPS_COMPATIBLE_VERSIONS=!5.7:6.4")
