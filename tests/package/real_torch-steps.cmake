# The same op against a real torch: installed package, moved, built, loaded.
if(NOT case_TORCHES)
  case_skip("no real torch (CUDAOPS_TEST_TORCHES)")
endif()
list(GET case_TORCHES 0 python)
install_package("${case_DIR}/prefix")
file(RENAME "${case_DIR}/prefix" "${case_DIR}/moved")
consumer(
  BODY
    "find_package(CudaTorchMatch REQUIRED)\nadd_torch_op(package_op SOURCES op.cpp)"
  ARGS "-DCMAKE_PREFIX_PATH=${case_DIR}/moved" "-DPython_EXECUTABLE=${python}" -DCUDAOPS_BACKEND=CPU
)
case_build()
case_step(
  load
  COMMAND
    "${python}" -c
    "import torch; torch.ops.load_library('${case_BUILD_DIR}/libpackage_op.so'); t = torch.ones(3); assert torch.ops.package_op.identity(t).equal(t)"
)
