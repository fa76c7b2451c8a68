# Half of a ROCm torch.
machine(VERSION 2.13.0 ROCM 6.4 WITHOUT CUDA_LIBRARIES)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu)]]
  [[
add_torch_op(my_op): the torch installation is incomplete.
  found torch 2.13.0+rocm6.4 (<case>/venv/bin/python (Python_EXECUTABLE))
  wrong version.py says ROCm 6.4.43482-0f2d60242, but
  there is no libtorch_hip.so (<case>/venv/lib/python3.11/site-packages/torch/lib)
 Fix: reinstall it: <python> -m pip install --force-reinstall torch or another one: -DPython_EXECUTABLE=<python>
]]
)
