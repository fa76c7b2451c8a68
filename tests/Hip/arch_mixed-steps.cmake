# Each could be built, both together can't.
hip_machine()
match(ARGS ${hip_TORCH} ${hip_ROCM} "-DAMDGPU_TARGETS=gfx90a gfx90a:xnack+")
