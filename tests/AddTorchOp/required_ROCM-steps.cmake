# CUDA REQUIRED with a ROCm build of torch.
machine(VERSION 2.13.0 ROCM 6.4)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu CUDA REQUIRED)]]
  [[
add_torch_op(my_op): CUDA REQUIRED, and CUDA can't be had.
  found NO_HIP_COMPILER: torch 2.13.0+rocm6.4 is a ROCm build, and this version of CudaOps doesn't build HIP
 Fix: -DPython_EXECUTABLE=<python> (one with a torch for CUDA: pip install torch brings it) or leave CUDA REQUIRED out: the op is then built for the CPU where it has SOURCES
]]
)
