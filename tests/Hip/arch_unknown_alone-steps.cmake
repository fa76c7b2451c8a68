# None of the names is known; the compiler explains itself.
hip_machine()
match(ARGS ${hip_TORCH} ${hip_ROCM} -DCMAKE_HIP_ARCHITECTURES=gfx1250)
