# CUDA REQUIRED with a ROCm build of torch.
machine(VERSION 2.13.0 ROCM 6.4)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu CUDA REQUIRED)]]
  [[
add_torch_op(my_op): CUDA REQUIRED, and HIP is not available.
  found NO_HIP_COMPILER: torch 2.13.0+rocm6.4 is a ROCm build, and no HIP compiler was found
 Fix: install ROCm (rocm-llvm, hip-dev, rocm-device-libs, on Debian hipcc) or -DROCm_ROOT=<dir>, or -DCMAKE_HIP_COMPILER=<clang++> or leave CUDA REQUIRED out: the op is then built for the CPU where it has SOURCES
]]
)
