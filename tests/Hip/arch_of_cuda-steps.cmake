# CUDA's spelling, where HIP wants gfx names.
hip_machine()
match(ARGS ${hip_TORCH} ${hip_ROCM} -DCMAKE_HIP_ARCHITECTURES=90a)
