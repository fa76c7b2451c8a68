# With HIP, the names of CUDA's libraries stand for ROCm's. One that isn't there says so to whoever links it.
hip_machine()
hip_sources()
fake_library("${case_DIR}/rocm/lib/libhiprand.so")
string(
  CONCAT code
  "add_torch_op(op SOURCES op.cpp CUDA_SOURCES op_gpu.cpp op.cu)\n"
  "add_torch_op(off SOURCES op.cpp CUDA_SOURCES op.cu CUDA OFF)\n"
  "target_link_libraries(op PRIVATE CudaOps::curand CudaOps::cuda_driver CudaOps::cudart CudaOps::cuda_headers CudaOps::hip)\n"
  "get_target_property(curand CudaOps::curand IMPORTED_LOCATION)\nmessage(STATUS \"curand is \${curand}\")\n"
  "target_link_libraries(off PRIVATE CudaOps::cublas CudaOps::nvml)\n"
)
match(ARGS ${hip_ARGS} AFTER "${code}")
expect_target(op state BUILT)
expect_target(off state CPU_ONLY)
expect_stdout("curand is [^\n]*/rocm/lib/libhiprand\\.so")
case_build()

match(RESULT 1 ARGS ${hip_ARGS} AFTER "${code}target_link_libraries(op PRIVATE CudaOps::cublas)")
