# Hints that name no ROCm are passed over, with their values.
hip_machine()
file(MAKE_DIRECTORY "${case_DIR}/empty")
file(WRITE "${case_DIR}/file" "")
case_environment(
  "ROCM_PATH=${case_DIR}/empty" "ROCM_HOME=:${case_DIR}/rocm" "HIP_PATH=${case_DIR}/file"
)
case_path("${case_DIR}/rocm/bin")
match(ARGS ${hip_TORCH} ${hip_ARCH})
expect_match(VERDICT EXACT ROCM_ROOT "${case_DIR}/rocm")
expect_stdout(
  "passed over ${case_DIR}/empty \\(environment ROCM_PATH\\): no ROCm there"
  "passed over :${case_DIR}/rocm \\(environment ROCM_HOME\\): no ROCm there"
  "passed over ${case_DIR}/file \\(environment HIP_PATH\\): no ROCm there"
)
