# A project that calls find_package(Torch) itself keeps working: find_package(CudaTorchMatch) before and after it, an op
# after both.
torch_facts()
need_toolkit()
need_cuda_torch()
string(REGEX REPLACE "\\..*" "" toolkit_major "${toolkit_RELEASE}")
string(REGEX REPLACE "\\..*" "" torch_major "${torch_CUDA}")
if(NOT toolkit_major STREQUAL torch_major)
  case_skip("torch's own CMake files stop at a toolkit of another major")
endif()
case_project(
  BODY
    "find_package(CudaTorchMatch REQUIRED)
set(Torch_DIR \"\${CudaTorchMatch_TORCH_DIR}/share/cmake/Torch\")
find_package(Torch REQUIRED)
find_package(CudaTorchMatch REQUIRED)
add_torch_op(torches SOURCES [==[${case_SUITE}/op.cpp]==] CUDA_SOURCES [==[${case_SUITE}/op.cu]==])"
)
case_environment(CUDA_HOME=/usr/local/cuda)
case_configure(ARGS "-DPython_EXECUTABLE=${case_TORCH}" -DCMAKE_CUDA_ARCHITECTURES=90-real)
case_not_match("what we say" "${case_STEP_STDERR}" "CMake (Warning|Error) at <repo>")
# TorchConfig.cmake warns of many things.
set_property(GLOBAL PROPERTY case_STDERR "")
case_report_equal(BUILT ops 0 state)
case_report_equal(90-real ops 0 architectures 0)
