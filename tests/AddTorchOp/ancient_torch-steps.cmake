# A torch of another age.
machine(VERSION 1.13.0 CPU)

misuse(
  [[add_torch_op(my_op ABI FULL SOURCES op.cpp)]]
  [[
add_torch_op(my_op): this torch is too old.
  found torch 1.13.0+cpu (<case>/venv/bin/python (Python_EXECUTABLE))
  wanted 2.9 or newer
 Fix: -DPython_EXECUTABLE=<python> (one with a newer torch)
]]
)
