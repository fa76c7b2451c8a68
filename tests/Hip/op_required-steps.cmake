# CUDA REQUIRED on an op means HIP with a ROCm torch: fine where it is there, an error where it isn't.
hip_machine()
hip_sources()
match(ARGS ${hip_ARGS} AFTER "add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op_gpu.cpp op.cu CUDA REQUIRED)")
expect_target(my_op state BUILT architectures gfx90a)
match(AFTER "add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu CUDA REQUIRED ARCHITECTURES gfx1100)")
