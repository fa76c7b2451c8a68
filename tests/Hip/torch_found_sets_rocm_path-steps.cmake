# find_package(Torch) of a ROCm build sets the variable ROCM_PATH to where it looks itself, whether there is a ROCm or not:
# that is not the user's choice.
fake_rocm("${case_DIR}/rocm" VERSION 6.4)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 6.4 FOUND_HIP_ONLY)
case_path("${case_DIR}/rocm/bin")
match(
  BEFORE "set(ROCM_PATH [==[${case_DIR}/opt/rocm]==])\nset(TORCH_FOUND TRUE)"
  ARGS ${hip_TORCH} ${hip_ARCH}
)
expect_match(VERDICT EXACT HIP_ENABLED TRUE ROCM_ROOT "${case_DIR}/rocm")
