# native without a GPU is an error: no other list can be meant.
hip_machine()
match(ARGS ${hip_TORCH} ${hip_ROCM} -DCMAKE_HIP_ARCHITECTURES=native)
