# A project that asks for an old CMake: its policies stay its own, ours are ours.
consumer(
  HEAD "set(CudaOps_ROOT [==[${case_REPO}]==])\ncmake_policy(VERSION 3.12)"
  BODY
    "find_package(CudaTorchMatch REQUIRED)\nadd_torch_op(package_op SOURCES op.cpp)
cmake_policy(GET CMP0126 policy)\nmessage(STATUS \"CMP0126 [\${policy}]\")"
)
case_match("stdout" "${case_STEP_STDOUT}" "-- CMP0126 .. --")
expect_consumer("^${case_REPO}/cmake$")
