# CUDA REQUIRED without a toolkit.
machine(VERSION 2.13.0 CUDA 13.0 NO_WHEELS)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu CUDA REQUIRED)]]
  [[
add_torch_op(my_op): CUDA REQUIRED, and CUDA can't be had.
  found NO_TOOLKIT: no CUDA toolkit was found
 Fix: -DCUDAToolkit_ROOT=<toolkit>, or put its nvcc on PATH or -DCUDAOPS_PROVIDE=TOOLKIT (brings torch's own release from PyPI, CUDA 13 and later) or leave CUDA REQUIRED out: the op is then built for the CPU where it has SOURCES
]]
)
