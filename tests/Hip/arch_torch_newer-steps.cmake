# Torch was built for more than this compiler knows: what it does know.
fake_rocm("${case_DIR}/rocm" VERSION 6.0)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 6.4 ARCHS gfx90a gfx942 gfx1201)
match(ARGS ${hip_TORCH} ${hip_ROCM})
expect_match(VERDICT COMPATIBLE HIP_ENABLED TRUE ARCHITECTURES "gfx90a;gfx942")
