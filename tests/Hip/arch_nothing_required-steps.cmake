# The same where HIP is required.
hip_machine()
match(FIND REQUIRED COMPONENTS HIP ARGS ${hip_TORCH} ${hip_ROCM})
