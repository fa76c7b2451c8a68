# CUDA REQUIRED without a toolkit.
machine(VERSION 2.13.0 CUDA 13.0 NO_WHEELS)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu CUDA REQUIRED)]]
  [[
add_torch_op(my_op): CUDA REQUIRED, and CUDA is not available.
  found NO_TOOLKIT: no CUDA toolkit was found
 Fix: -DCUDAToolkit_ROOT=<dir> (a CUDA 13 toolkit, best 13.0) -DCUDAOPS_PROVIDE=TOOLKIT (brings CUDA 13.0 from Python wheels) or leave CUDA REQUIRED out: the op is then built for the CPU where it has SOURCES
]]
)
