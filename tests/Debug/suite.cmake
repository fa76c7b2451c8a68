include("${case_TESTS_DIR}/AddTorchOp/common/commands.cmake")
