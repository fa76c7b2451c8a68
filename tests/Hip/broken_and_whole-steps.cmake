# A whole one that fits is taken before a broken one that fits better.
fake_rocm("${case_DIR}/broken" VERSION 6.4 WITHOUT RUNTIME)
fake_rocm("${case_DIR}/rocm" VERSION 6.2)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 6.4)
case_path("${case_DIR}/broken/bin" "${case_DIR}/rocm/bin")
match(ARGS ${hip_TORCH} ${hip_ARCH})
expect_match(VERDICT COMPATIBLE HIP_ENABLED TRUE ROCM_ROOT "${case_DIR}/rocm")
expect_candidate(0 6.4.43482 PATH EXACT "no libamdhip64\\.so")
