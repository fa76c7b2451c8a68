# Instantiations of a template, dealt out over files.
include("${case_TESTS_DIR}/AddTorchOp/common/commands.cmake")
set(
  commands_USAGE
  "cudaops_shard_instantiations(<out-var> TEMPLATE <file.cuh> INSTANTIATIONS <instantiation>... [FILES <n>])"
)
