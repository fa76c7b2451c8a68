# The stable ABI is younger than this torch.
machine(VERSION 2.9.1 CPU)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp)]]
  [[
add_torch_op(my_op): ABI STABLE needs torch 2.10 or newer.
  found torch 2.9.1+cpu (<case>/venv/bin/python (Python_EXECUTABLE))
  wanted 2.10, the first torch with the stable ABI
 Fix: ABI FULL or a newer torch: -DPython_EXECUTABLE=<python>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp TORCH_TARGET 2.9)]]
  [[
add_torch_op(my_op): the stable ABI begins with torch 2.10.
  found TORCH_TARGET 2.9
 Fix: TORCH_TARGET 2.10 or ABI FULL, with the torch that will run it
]]
)

misuse(
  [[add_library(t SHARED op.cpp)
cudaops_target_torch(t)]]
  [[
cudaops_target_torch(t): ABI STABLE needs torch 2.10 or newer.
  found torch 2.9.1+cpu (<case>/venv/bin/python (Python_EXECUTABLE))
  wanted 2.10, the first torch with the stable ABI
 Fix: ABI FULL or a newer torch: -DPython_EXECUTABLE=<python>
]]
)
