# A torch without headers: named, and not "not installed".
machine(VERSION 2.13.0 CPU WITHOUT HEADERS)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp)]]
  [[
add_torch_op(my_op): the torch installation is incomplete.
  found torch 2.13.0+cpu (<case>/venv/bin/python (Python_EXECUTABLE))
  wrong no headers (<case>/venv/lib/python3.11/site-packages/torch/include/ATen/ATen.h)
 Fix: reinstall it: <python> -m pip install --force-reinstall torch or another one: -DPython_EXECUTABLE=<python>
]]
)
