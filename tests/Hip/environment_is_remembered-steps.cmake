# What the environment said at the first configure holds for later ones, which Ninja runs from other shells.
fake_rocm("${case_DIR}/rocm" VERSION 6.4)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 6.4)
case_environment("ROCM_PATH=${case_DIR}/rocm" PYTORCH_ROCM_ARCH=gfx942)
match(ARGS ${hip_TORCH})
expect_match(VERDICT EXACT ARCHITECTURES gfx942)
case_environment(UNSET ROCM_PATH PYTORCH_ROCM_ARCH)
match()
expect_match(VERDICT EXACT HIP_ENABLED TRUE ROCM_ROOT "${case_DIR}/rocm" ARCHITECTURES gfx942)
