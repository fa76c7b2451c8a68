# What CUDA_CUBINS can't be asked for, and when.
machine(CUDA)
set(commands_USAGE "cudaops_target_cubins(<target>)")

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_CUBINS)]]
  [[
add_torch_op(my_op): CUDA_CUBINS applies to .cu files, and CUDA_SOURCES holds none.
 Fix: leave CUDA_CUBINS out
]]
)

misuse(
  [[cudaops_add_kernels(kernels SOURCES op.cpp CUDA_CUBINS)]]
  [[
cudaops_add_kernels(kernels): CUDA_CUBINS applies to .cu files, and SOURCES holds none.
 Fix: leave CUDA_CUBINS out
]]
)

misuse(
  [[cudaops_target_cubins(nowhere)]]
  [[
cudaops_target_cubins(nowhere): the first argument is a target.
  found 'nowhere'
 Fix: <usage>
]]
)

misuse(
  [[cudaops_target_cubins()]]
  [[
cudaops_target_cubins(): takes one argument, a target.
  found ''
 Fix: <usage>
]]
)

misuse(
  [[
add_library(headers INTERFACE)
cudaops_target_cubins(headers)
]]
  [[
cudaops_target_cubins(headers): the target is not one that is compiled in this project.
  found headers, INTERFACE_LIBRARY
  wanted a library or an executable
 Fix: <usage>
]]
)
