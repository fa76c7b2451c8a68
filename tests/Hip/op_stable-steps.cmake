# An op of CUDA sources for a ROCm torch: translated, compiled as HIP, linked with what ROCm's torch is made of, and the
# library's code objects are what was asked for.
hip_machine()
hip_sources()
file(APPEND "${case_DIR}/src/op_gpu.cpp" "#ifndef USE_CUDA\n#error USE_CUDA is not seen\n#endif\n")
match(
  ARGS ${hip_TORCH} ${hip_ROCM} "-DGPU_TARGETS=gfx90a gfx942"
  BEFORE "enable_testing()"
  AFTER
    "add_torch_op(my_op SOURCES op.cpp op_gpu.cpp CUDA_SOURCES op_gpu.cpp op.cu CUDA REQUIRED)
add_torch_op(host SOURCES op.cpp)
add_torch_op(device CUDA_SOURCES op.cu)
add_torch_op(off SOURCES op.cpp CUDA_SOURCES op.cu CUDA OFF)
cudaops_add_kernels(kernels SHARED SOURCES op.cu)"
)
expect_match(VERDICT EXACT HIP_ENABLED TRUE)
expect_target(my_op state BUILT reason_code "" abi STABLE architectures gfx90a,gfx942 library "${case_BUILD_DIR}/libmy_op.so")
expect_target(host state BUILT architectures "")
expect_target(device state BUILT architectures gfx90a,gfx942)
expect_target(off state CPU_ONLY reason_code REQUESTED_OFF)
expect_target(kernels state BUILT architectures gfx90a,gfx942)
case_build()
expect_code_objects("${case_BUILD_DIR}/libmy_op.so" gfx90a gfx942)
expect_code_objects("${case_BUILD_DIR}/libkernels.so" gfx90a gfx942)
expect_code_objects("${case_BUILD_DIR}/liboff.so")
case_step(needed COMMAND readelf -d "${case_BUILD_DIR}/libmy_op.so")
case_not_match("NEEDED" "${case_STEP_STDOUT}" "NEEDED[^\n]*(cuda|libtorch_hip\\.so\\.)")
case_ctest()
# The source tree is as it was.
file(GLOB_RECURSE files RELATIVE "${case_DIR}/src" "${case_DIR}/src/*")
list(SORT files)
case_equal("the source tree" "${files}" "CMakeLists.txt;op.cpp;op.cu;op.h;op_gpu.cpp")
