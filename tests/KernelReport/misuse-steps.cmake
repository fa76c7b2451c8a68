# cudaops_add_kernel_budget(): every argument that can be wrong.
machine(CPU)
set(kernels "cudaops_add_kernels(k SOURCES op.cpp)\n")
misuse(
  [[cudaops_add_kernel_budget(no_such FILE budget.json)]]
  [[
cudaops_add_kernel_budget(no_such): the first argument is a target.
  found 'no_such'
 Fix: <usage>
]]
)
misuse(
  "${kernels}cudaops_add_kernel_budget(k)"
  [[
cudaops_add_kernel_budget(k): FILE is missing.
 Fix: <usage>
]]
)
misuse(
  "${kernels}cudaops_add_kernel_budget(k FILE)"
  [[
cudaops_add_kernel_budget(k): FILE needs a value.
 Fix: <usage>
]]
)
misuse(
  "${kernels}cudaops_add_kernel_budget(k FLIE budget.json)"
  [[
cudaops_add_kernel_budget(k): unknown argument 'FLIE', did you mean FILE?
 Fix: <usage>
]]
)
misuse(
  "${kernels}cudaops_add_kernel_budget(k FILE .)"
  [[
cudaops_add_kernel_budget(k): FILE is a directory.
  found <case>/src/
 Fix: FILE ./kernels.json
]]
)
misuse(
  "${kernels}cudaops_add_kernel_budget(k FILE a.json)\ncudaops_add_kernel_budget(k FILE b.json)"
  [[
cudaops_add_kernel_budget(k): this target has a budget already.
 Fix: one call for each target
]]
)
