# An op before find_package(CudaTorchMatch) is an error that says so.
consumer(HEAD "set(CudaOps_ROOT [==[${case_REPO}]==])" BODY "add_torch_op(package_op SOURCES op.cpp)")
