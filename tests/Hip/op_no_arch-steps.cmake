# An op whose code is for other GPUs than those asked for.
hip_machine()
hip_sources()
match(ARGS ${hip_ARGS} AFTER "add_torch_op(mi300 SOURCES op.cpp CUDA_SOURCES op.cu ARCHITECTURES gfx942)
add_torch_op(both SOURCES op.cpp CUDA_SOURCES op_gpu.cpp op.cu ARCHITECTURES gfx90a gfx942)
add_torch_op(nvidia SOURCES op.cpp CUDA_SOURCES op.cu ARCHITECTURES 90a)"
)
expect_target(mi300 state CPU_ONLY reason_code NO_ARCHITECTURE reason "the code supports gfx942; requested is gfx90a (CMAKE_HIP_ARCHITECTURES)")
expect_target(both state BUILT architectures gfx90a)
expect_target(nvidia state CPU_ONLY reason_code NO_ARCHITECTURE)
case_build()
expect_code_objects("${case_BUILD_DIR}/libboth.so" gfx90a)
