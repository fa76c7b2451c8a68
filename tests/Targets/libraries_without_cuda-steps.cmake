# Every target of the documentation exists on every machine: linking needs no if(). Without CUDA the libraries of CUDA
# are empty.
set(
  code
  [==[
set(libraries cuda_headers cudart cublas cublasLt cusparse cusolver cufft curand nvrtc cudnn nccl nvml cuda_driver hip headers)
list(TRANSFORM libraries PREPEND CudaOps::)
add_torch_op(op SOURCES op.cpp CUDA_SOURCES op_cuda.cpp op.cu)
add_torch_op(device CUDA_SOURCES op.cu)
cudaops_add_kernels(kernels SOURCES more.cpp more.cu)
add_library(own SHARED own.cpp)
foreach(target IN ITEMS op device kernels own)
  target_link_libraries(${target} PRIVATE ${libraries})
endforeach()
foreach(library IN LISTS libraries ITEMS CudaOps::torch CudaOps::torch_stable CudaOps::torch_stable_cuda CudaOps::torch_python)
  if(NOT TARGET ${library})
    message(FATAL_ERROR "${library} doesn't exist")
  endif()
endforeach()
]==]
)
function(expect_built)
  file(WRITE "${case_DIR}/src/more.cpp" "")
  file(WRITE "${case_DIR}/src/own.cpp" "int own() { return 1; }\n")
  configure("${code}" ARGS ${ARGN})
  case_build()
endfunction()

machine(CPU)
expect_built()
expect_target(op state CPU_ONLY reason_code CPU_TORCH)

file(REMOVE_RECURSE "${case_DIR}/venv" "${case_BUILD_DIR}")
machine(VERSION 2.13.0 CUDA 13.0)
expect_built()
expect_target(op state CPU_ONLY reason_code NO_TOOLKIT)

file(REMOVE_RECURSE "${case_DIR}/venv" "${case_BUILD_DIR}")
machine(CUDA)
expect_built(-DCUDAOPS_BACKEND=CPU)
expect_target(op state CPU_ONLY reason_code REQUESTED_OFF)

# Without torch, what is torch's own says so to whoever builds with it, and the rest is as before.
file(REMOVE_RECURSE "${case_DIR}/venv" "${case_DIR}/cuda" "${case_BUILD_DIR}")
set(case_ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
fake_python("${case_DIR}/venv")
expect_built()
expect_target(op state NOT_BUILT reason_code NO_TORCH)
configure("add_library(own SHARED own.cpp)\ntarget_link_libraries(own PRIVATE CudaOps::torch)")
case_build(RESULT 1)
case_match(
  "a library that needs torch"
  "${case_STEP_STDOUT}"
  "#error \"CudaOps::torch can't be linked: no torch was found\\. Fix: -DPython_EXECUTABLE="
)
