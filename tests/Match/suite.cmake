# What find_package(CudaTorchMatch) finds and says on machines of every kind.

include("${case_TESTS_DIR}/fixtures/match.cmake")
