# find_package twice is harmless, with other packages between.
consumer(
  HEAD "set(CudaOps_ROOT [==[${case_REPO}]==])\nfind_package(CudaOps REQUIRED)\nfind_package(CudaTorchMatch)"
  BODY
    "find_package(CudaTorchMatch REQUIRED)\nfind_package(CudaOps 0.1 REQUIRED)\nfind_package(CudaTorchMatch)
add_torch_op(package_op SOURCES op.cpp)\nlist(LENGTH CMAKE_MODULE_PATH length)\nmessage(STATUS \"module path \${length}\")"
)
expect_consumer("^${case_REPO}/cmake$")
case_match("stdout" "${case_STEP_STDOUT}" "-- module path 1 --")
