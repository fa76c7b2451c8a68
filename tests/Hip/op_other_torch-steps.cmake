# HIP asked for with a CUDA torch: kernels and stable ops are built, and it is said that this torch can't load them; the
# other ABIs need a torch for ROCm.
fake_rocm("${case_DIR}/rocm" VERSION 6.4)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0 NO_WHEELS)
hip_sources()
match(ARGS ${hip_ARGS} -DCUDAOPS_BACKEND=HIP AFTER "add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op_gpu.cpp op.cu)
add_torch_op(full ABI FULL SOURCES op.cpp CUDA_SOURCES op_gpu.cpp op.cu)
cudaops_add_kernels(kernels SHARED SOURCES op.cu)"
)
expect_match(VERDICT CUDA_TORCH HIP_ENABLED TRUE)
expect_target(
  my_op
  state BUILT
  reason_code CUDA_TORCH
  reason "built for HIP: torch 2.13.0+cu130, which isn't built for ROCm, can't load it"
  architectures gfx90a
)
expect_target(full state CPU_ONLY reason_code CUDA_TORCH reason "ABI FULL for HIP needs a torch for ROCm, and torch 2.13.0+cu130 is none")
expect_target(kernels state BUILT reason_code "" architectures gfx90a)
expect_stdout("my_op +BUILT .*can't load it")
case_build()
expect_code_objects("${case_BUILD_DIR}/libmy_op.so" gfx90a)
expect_code_objects("${case_BUILD_DIR}/libkernels.so" gfx90a)
case_step(needed COMMAND readelf -d "${case_BUILD_DIR}/libmy_op.so")
case_not_match("NEEDED" "${case_STEP_STDOUT}" "cuda")
