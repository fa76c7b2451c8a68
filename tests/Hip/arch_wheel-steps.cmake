# In a wheel build GPUs don't count; what torch was built for does.
fake_rocm("${case_DIR}/rocm" VERSION 6.4 GPUS gfx1100)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 6.4 ARCHS gfx942)
match(ARGS ${hip_TORCH} ${hip_ROCM} -DSKBUILD=2)
expect_match(HIP_ENABLED TRUE ARCHITECTURES gfx942)
