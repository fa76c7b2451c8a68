# A compiler that says its version and compiles no kernel: HIP is off, with its own words.
fake_rocm("${case_DIR}/rocm" VERSION 6.4)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 6.4)
file(WRITE "${case_DIR}/rocm/include/hip/hip_runtime.h" "#error this header is of another compiler\n")
match(ARGS ${hip_ARGS})
expect_match(VERDICT EXACT HIP_ENABLED FALSE REASON_CODE LANGUAGE_FAILED languages CXX)
