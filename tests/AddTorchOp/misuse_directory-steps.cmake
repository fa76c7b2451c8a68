# find_package(CudaTorchMatch) in one directory, the op in another: CUDA isn't enabled there.
machine(CUDA)
file(WRITE "${case_DIR}/src/sub/CMakeLists.txt" "find_package(CudaTorchMatch)\n")

misuse(
  [[add_subdirectory(sub)
add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu)]]
  [[
add_torch_op(my_op): CUDA isn't enabled in this directory.
  found find_package(CudaTorchMatch) in <case>/src/sub
  here <case>/src
 Fix: call find_package(CudaTorchMatch) in this directory too, or in the top-level CMakeLists.txt before add_subdirectory()
]]
  NO_MATCH
)
