# ABI PYBIND without libtorch_python.so, and without Python's headers.
need_python_headers()
machine(VERSION 2.13.0 CPU WITHOUT PYTHON_LIBRARY)

misuse(
  [[add_torch_op(my_op ABI PYBIND PYTHON_MODULE _C SOURCES op.cpp)]]
  [[
add_torch_op(my_op): ABI PYBIND needs libtorch_python.so.
  found torch 2.13.0+cpu (<case>/venv/bin/python (Python_EXECUTABLE))
  missing <case>/venv/lib/python3.11/site-packages/torch/lib/libtorch_python.so
 Fix: -DPython_EXECUTABLE=<python> (one with torch as a Python package)
]]
)
