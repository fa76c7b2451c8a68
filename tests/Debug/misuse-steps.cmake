# Values and combinations of the options that can't be.
machine(CUDA)
misuse(
  "add_torch_op(op SOURCES op.cpp CUDA_SOURCES op.cu)"
  [[
CUDAOPS_PROFILE: code for a debugger isn't the code that a profile is to measure.
  found CUDAOPS_PROFILE=ON and CUDAOPS_DEBUG=ON
 Fix: -DCUDAOPS_DEBUG=OFF, or -DCUDAOPS_PROFILE=OFF
]]
  ARGS -DCUDAOPS_PROFILE=ON -DCUDAOPS_DEBUG=ON
)
misuse(
  "add_torch_op(op SOURCES op.cpp CUDA_SOURCES op.cu)"
  [[
CUDAOPS_PROFILE: code for a debugger isn't the code that a profile is to measure.
  found CUDAOPS_PROFILE=ON and CMAKE_BUILD_TYPE=Debug
 Fix: -DCMAKE_BUILD_TYPE=Release, or -DCUDAOPS_PROFILE=OFF
]]
  ARGS -DCUDAOPS_DEBUG=OFF -DCMAKE_BUILD_TYPE=Debug
)
misuse(
  "add_torch_op(op SOURCES op.cpp CUDA_SOURCES op.cu)"
  [[
CUDAOPS_DEBUG: unknown value 'yes', did you mean ON?
  found yes (variable CUDAOPS_DEBUG)
  wanted OFF ON
 Fix: -DCUDAOPS_DEBUG=ON
]]
  ARGS -DCUDAOPS_DEBUG=yes
)
misuse(
  "add_torch_op(op SOURCES op.cpp CUDA_SOURCES op.cu)"
  [[
CUDAOPS_NVTX: the toolkit has no headers of NVTX.
  wanted nvtx3/nvToolsExt.h
  looked <case>/cuda/include <case>/cuda/include/cccl
 Fix: apt-get install cuda-nvtx-<major>-<minor>, or pip install nvidia-nvtx into the toolkit's environment
 or -DCUDAOPS_NVTX=OFF
]]
  ARGS -DCUDAOPS_PROFILE=OFF -DCMAKE_BUILD_TYPE=Release -DCUDAOPS_DEBUG=OFF -DCUDAOPS_NVTX=ON
)
