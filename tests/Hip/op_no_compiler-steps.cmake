# A ROCm torch without a ROCm: host parts are built, device parts aren't, and each says why.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 6.4)
hip_sources()
match(ARGS ${hip_TORCH} AFTER "add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op_gpu.cpp op.cu)
add_torch_op(device CUDA_SOURCES op.cu)
cudaops_add_kernels(kernels SOURCES op.cu)"
)
set(reason "torch 2.13.0+rocm6.4 is a ROCm build, and no HIP compiler was found")
expect_target(my_op state CPU_ONLY reason_code NO_HIP_COMPILER reason "${reason}" architectures "")
expect_target(device state NOT_BUILT reason_code NO_HIP_COMPILER reason "${reason}" library "")
expect_target(kernels state NOT_BUILT reason_code NO_HIP_COMPILER)
case_build()
