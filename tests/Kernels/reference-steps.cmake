# Kernels of the reference library: with what they call, once each, where the architecture is asked for.
machine(CUDA)
configure(
  "cudaops_add_reference_kernels(attention)\ncudaops_add_reference_kernels(rms_norm_quantize attention)\nadd_library(mine op.cpp)\ntarget_link_libraries(mine PRIVATE CudaOps::attention CudaOps::rms_norm_quantize)"
)
foreach(name IN ITEMS attention rms_norm quantize rms_norm_quantize)
  expect_target(cudaops_${name} state BUILT)
endforeach()
expect_target(cudaops_attention_sm90 state NOT_BUILT reason_code NO_ARCHITECTURE)
expect_target(cudaops_attention_backward_sm90 state NOT_BUILT reason_code NO_ARCHITECTURE)
