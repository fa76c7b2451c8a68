# A torch without libtorch_cpu.so.
machine(VERSION 2.13.0 CPU)
file(GLOB library "${case_DIR}/venv/lib/*/site-packages/torch/lib/libtorch_cpu.so")
file(REMOVE ${library})

misuse(
  [[add_torch_op(my_op SOURCES op.cpp)]]
  [[
add_torch_op(my_op): the torch installation is incomplete.
  found torch 2.13.0+cpu (<case>/venv/bin/python (Python_EXECUTABLE))
  wrong no libtorch_cpu.so (<case>/venv/lib/python3.11/site-packages/torch/lib)
 Fix: reinstall it: <python> -m pip install --force-reinstall torch or another one: -DPython_EXECUTABLE=<python>
]]
)
