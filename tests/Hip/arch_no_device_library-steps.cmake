# The compiler knows the name, and there is no device library for it.
fake_rocm("${case_DIR}/rocm" VERSION 6.4 ARCHS gfx90a gfx942)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 6.4)
match(ARGS ${hip_TORCH} ${hip_ROCM} -DGPU_TARGETS=gfx1100)
