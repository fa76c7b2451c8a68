# A torch without libc10.so.
machine(VERSION 2.13.0 CPU WITHOUT C10)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp)]]
  [[
add_torch_op(my_op): the torch installation is incomplete.
  found torch 2.13.0+cpu (<case>/venv/bin/python (Python_EXECUTABLE))
  wrong no libc10.so (<case>/venv/lib/python3.11/site-packages/torch/lib)
 Fix: reinstall it: <python> -m pip install --force-reinstall torch or another one: -DPython_EXECUTABLE=<python>
]]
)

misuse(
  [[add_torch_op(my_op ABI FULL SOURCES op.cpp)]]
  [[
add_torch_op(my_op): the torch installation is incomplete.
  found torch 2.13.0+cpu (<case>/venv/bin/python (Python_EXECUTABLE))
  wrong no libc10.so (<case>/venv/lib/python3.11/site-packages/torch/lib)
 Fix: reinstall it: <python> -m pip install --force-reinstall torch or another one: -DPython_EXECUTABLE=<python>
]]
)
