# The op in a subdirectory that calls find_package(CudaOps) itself; a sibling that doesn't has the commands as well.
file(
  WRITE "${case_PROJECT_DIR}/ops/CMakeLists.txt"
  "find_package(CudaOps REQUIRED)\nfind_package(CudaTorchMatch REQUIRED)\nadd_torch_op(package_op SOURCES ../op.cpp)\n"
)
consumer(
  HEAD "set(CudaOps_ROOT [==[${case_REPO}]==])"
  BODY "find_package(CudaTorchMatch REQUIRED)\nadd_subdirectory(ops)"
)
expect_consumer("^${case_REPO}/cmake$")
