# CUDA REQUIRED without torch.
fake_python("${case_DIR}/venv")
file(WRITE "${case_DIR}/src/op.cpp" "")
file(WRITE "${case_DIR}/src/op.cu" "")
set(case_ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu CUDA REQUIRED)]]
  [[
add_torch_op(my_op): CUDA REQUIRED, and CUDA is not available.
  found NO_TORCH: no torch was found
 Fix: -DPython_EXECUTABLE=<venv>/bin/python (an interpreter that has torch) or -DCUDAOPS_PROVIDE=TORCH (brings one from PyPI, about 3 GB)
]]
)
