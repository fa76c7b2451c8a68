# CUDA REQUIRED with a CPU build of torch.
machine(CPU)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu CUDA REQUIRED)]]
  [[
add_torch_op(my_op): CUDA REQUIRED, and CUDA is not available.
  found CPU_TORCH: torch 2.13.0+cpu is a CPU build
 Fix: -DPython_EXECUTABLE=<python> (one with a torch for CUDA: pip install torch brings it) or leave CUDA REQUIRED out: the op is then built for the CPU where it has SOURCES
]]
)
