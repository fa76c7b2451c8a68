# ABI PYBIND with a libtorch, which has no Python.
machine(VERSION 2.13.0 CPU LAYOUT LIBTORCH)
set(case_ARGS "-DTorch_ROOT=${case_DIR}/venv")

misuse(
  [[add_torch_op(my_op ABI PYBIND PYTHON_MODULE _C SOURCES op.cpp)]]
  [[
add_torch_op(my_op): ABI PYBIND needs the Python that goes with torch.
  found torch 2.13.0+cpu (<case>/venv (Torch_ROOT)), no interpreter
 Fix: -DPython_EXECUTABLE=<python>
]]
)
