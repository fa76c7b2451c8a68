# A CUDA torch without its CUDA libraries.
machine(CUDA)
file(GLOB library "${case_DIR}/venv/lib/*/site-packages/torch/lib/libtorch_cuda.so")
file(REMOVE ${library})

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu)]]
  [[
add_torch_op(my_op): the torch installation is incomplete.
  found torch 2.13.0+cu130 (<case>/venv/bin/python (Python_EXECUTABLE))
  wrong it was built for CUDA 13.0, but
  there is no libtorch_cuda.so (<case>/venv/lib/python3.11/site-packages/torch/lib)
 Fix: reinstall it: <python> -m pip install --force-reinstall torch or another one: -DPython_EXECUTABLE=<python>
]]
)
