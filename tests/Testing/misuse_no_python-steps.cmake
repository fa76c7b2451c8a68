# A Python test where torch comes without Python.
machine(VERSION 2.13.0 CPU LAYOUT LIBTORCH)
set(case_ARGS "-DTorch_ROOT=${case_DIR}/venv")
file(WRITE "${case_DIR}/src/test_op.py" "")

misuse(
  [[add_torch_op(my_op SOURCES op.cpp)
cudaops_add_python_test(t OP my_op SCRIPT test_op.py)]]
  [[
cudaops_add_python_test(t): there is no Python that can run this torch.
  found torch at <case>/venv (Torch_ROOT)
 Fix: -DPython_EXECUTABLE=<python> (one that has torch)
]]
)
