include("${case_TESTS_DIR}/AddTorchOp/common/commands.cmake")
string(
  CONCAT commands_USAGE
  "cudaops_add_kernels(<name> [OBJECT|STATIC|SHARED] SOURCES <file>... [ARCHITECTURES <arch>...] [CUDA_CUBINS] [DEFINE <macro>])"
)
