# CUDA REQUIRED where the user switched CUDA off.
machine(CUDA)
list(APPEND case_ARGS -DCUDAOPS_BACKEND=CPU)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu CUDA REQUIRED)]]
  [[
add_torch_op(my_op): CUDA REQUIRED, and CUDA is not available.
  found REQUESTED_OFF: CUDA was switched off (CUDAOPS_BACKEND=CPU)
 Fix: -DCUDAOPS_BACKEND=AUTO or leave CUDA REQUIRED out: the op is then built for the CPU where it has SOURCES
]]
)
