# find_package(CudaTorchMatch) inside a function of the same CMakeLists.txt: the first command that needs the language
# names the function.
machine(CUDA)
misuse(
  [[
function(set_up)
  find_package(CudaTorchMatch)
endfunction()
set_up()
add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu)
]]
  [[
add_torch_op(my_op): CUDA isn't enabled in this directory: find_package(CudaTorchMatch) was called inside a function.
  found set_up() (<case>/src/calls.cmake:1)
  wanted the call at the top level of a CMakeLists.txt
 Fix: move find_package(CudaTorchMatch) out of set_up, or make set_up a macro()
]]
  NO_MATCH
)
