# CPU asked for with a ROCm torch: no ROCm is looked at.
hip_machine()
match(ARGS ${hip_ARGS} -DCUDAOPS_BACKEND=CPU)
expect_match(
  VERDICT ROCM_TORCH
  REASON_CODE REQUESTED_OFF
  HIP_ENABLED FALSE
  CUDA_ENABLED FALSE
  languages CXX
)
