include("${case_TESTS_DIR}/AddTorchOp/common/commands.cmake")
string(
  CONCAT commands_USAGE
  "add_torch_op(<name> [SOURCES <file>...] [CUDA_SOURCES <file>...] [ABI STABLE|FULL|PYBIND] [TORCH_TARGET <version>] "
  "[CUDA AUTO|REQUIRED|OFF] [ARCHITECTURES <arch>...] [CUDA_CUBINS] [PYTHON_MODULE <module> [PYTHON_TARGET <version>]] [PYTHON_PACKAGE <dir>] [INSTALL <dir> [RECIPE]])"
)
