# No name at all.
hip_machine()
match(ARGS ${hip_TORCH} ${hip_ROCM} -DCMAKE_HIP_ARCHITECTURES=gfx90a,$x)
