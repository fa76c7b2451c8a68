# What is read from files is what this torch says of itself.
torch_facts()
case_project(BODY "find_package(CudaTorchMatch REQUIRED)")
case_configure(ARGS "-DPython_EXECUTABLE=${case_TORCH}" -DCUDAOPS_BACKEND=CPU)
case_report_equal("${torch_VERSION}" torch version)
case_report_equal("${torch_DIR}" torch dir)
if(NOT torch_CUDA STREQUAL "none")
  case_report_equal("${torch_CUDA}" torch cuda)
endif()
