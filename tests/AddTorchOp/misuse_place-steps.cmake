# A call before find_package(CudaTorchMatch), and in a directory that knows nothing of CUDA.
machine(CPU)
file(WRITE "${case_DIR}/src/sub/CMakeLists.txt" "find_package(CudaTorchMatch)\n")

misuse(
  [[add_torch_op(my_op SOURCES op.cpp)]]
  [[
add_torch_op(my_op): no torch and no toolkit have been looked for yet.
  wanted find_package(CudaTorchMatch) before this call, in the top-level CMakeLists.txt
 Fix: find_package(CudaTorchMatch REQUIRED)
]]
  NO_MATCH
)
