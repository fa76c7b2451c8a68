# Nothing is left behind but documented names: variables, cache entries, commands, targets, properties.
consumer(
  HEAD "set(CudaOps_ROOT [==[${case_REPO}]==])\ninclude([==[${case_SUITE}/leaks/before.txt]==])"
  BODY
    "find_package(CudaTorchMatch REQUIRED)\nadd_torch_op(package_op SOURCES op.cpp)\ncudaops_add_kernels(package_kernels SOURCES op.cpp)
include([==[${case_SUITE}/leaks/after.txt]==])"
)
file(READ "${case_BUILD_DIR}/leaks.txt" leaks)
case_equal("left behind" "${leaks}" "")
