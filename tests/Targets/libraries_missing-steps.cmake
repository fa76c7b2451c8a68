# CUDA is on, and a library that is linked is not available: ops and kernels say so when they are configured, other targets
# when they are built.
machine(CUDA)
set(
  looked
  "wanted libcurand.so tried <case>/venv/lib/python…/site-packages/nvidia/*/lib tried <case>/venv/lib/python…/site-packages/torch/lib tried <case>/venv/lib tried <case>/cuda/lib64
  Fix: <case>/venv/bin/python -m pip install \"cuda-toolkit[curand]==13.0.3\" or -DCUDAToolkit_ROOT=<toolkit> (one that has libcurand.so)"
)
string(REPLACE "python…" "python${case_PYTHON_VERSION}" looked "${looked}")
misuse(
  "add_torch_op(op SOURCES op.cpp CUDA_SOURCES op.cu)
target_link_libraries(op PRIVATE CudaOps::curand)"
  "add_torch_op(op): CudaOps::curand can't be linked: it was not found. ${looked}"
)
misuse(
  "cudaops_add_kernels(kernels STATIC SOURCES op.cu)
add_library(own INTERFACE)
target_link_libraries(own INTERFACE CudaOps::curand)
target_link_libraries(kernels PUBLIC own)"
  "cudaops_add_kernels(kernels): CudaOps::curand can't be linked: it was not found. ${looked}"
)
misuse(
  "cudaops_add_kernels(kernels SOURCES op.cu)
target_link_libraries(kernels PRIVATE CudaOps::cudnn)"
  "cudaops_add_kernels(kernels): CudaOps::cudnn can't be linked: it was not found.
  wanted libcudnn.so tried … tried … tried … tried …
  Fix: <case>/venv/bin/python -m pip install nvidia-cudnn-cu13 or -DCUDAToolkit_ROOT=<toolkit> (one that has libcudnn.so)"
)
misuse(
  "add_torch_op(op SOURCES op.cpp CUDA_SOURCES op.cu)
target_link_libraries(op PRIVATE CudaOps::nvml)"
  "add_torch_op(op): CudaOps::nvml can't be linked: neither the driver's library nor a stub of it was found.
  wanted libnvidia-ml.so tried <case>/cuda/lib64/stubs
  tried CMAKE_LIBRARY_PATH, CMAKE_PREFIX_PATH, the compiler's directories and CMake's
  Fix: install NVIDIA's driver, or the toolkit's stubs of it or -DCMAKE_LIBRARY_PATH=<directory with libnvidia-ml.so>"
  # As on a machine without a driver.
  BEFORE "set(CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)\nset(CMAKE_SYSTEM_PREFIX_PATH)\nset(CMAKE_SYSTEM_LIBRARY_PATH)"
)

# The headers that there are must be of the library that there is.
fake_library("${case_DIR}/venv/lib/python${case_PYTHON_VERSION}/site-packages/nvidia/cudnn/lib/libcudnn.so.9")
file(WRITE "${case_DIR}/cuda/include/cudnn.h" "#include \"cudnn_version.h\"\n")
file(WRITE "${case_DIR}/cuda/include/cudnn_version.h" "#define CUDNN_MAJOR 8\n")
misuse(
  "add_torch_op(op SOURCES op.cpp CUDA_SOURCES op.cu)
target_link_libraries(op PRIVATE CudaOps::cudnn)"
  "add_torch_op(op): CudaOps::cudnn can't be linked: the library is release 9, and its headers are of release 8.
  library …/site-packages/nvidia/cudnn/lib/libcudnn.so.9 headers cudnn.h in <case>/cuda/include;<case>/cuda/include/cccl
  Fix: <case>/venv/bin/python -m pip install nvidia-cudnn-cu13
  or -DCUDAToolkit_ROOT=<toolkit> (one that has headers of libcudnn.so.9)"
)

# Of the SONAME that torch loads, and of no other.
fake_library("${case_DIR}/needed/libcublas.so.13")
fake_library("${case_DIR}/cuda/lib64/libcublas.so.12")
execute_process(
  COMMAND
    "${case_CXX}" -shared -nostdlib -Wl,--no-as-needed -o
    "${case_DIR}/venv/lib/python${case_PYTHON_VERSION}/site-packages/torch/lib/libtorch_cuda.so"
    "${case_DIR}/needed/libcublas.so.13"
  COMMAND_ERROR_IS_FATAL ANY
)
misuse(
  "add_torch_op(op SOURCES op.cpp CUDA_SOURCES op.cu)
target_link_libraries(op PRIVATE CudaOps::cublas)"
  "add_torch_op(op): CudaOps::cublas can't be linked: torch 2.13.0+cu130 loads libcublas.so.13, and here is only <case>/cuda/lib64/libcublas.so.12.
  wanted libcublas.so.13 tried … tried … tried … tried …
  Fix: <case>/venv/bin/python -m pip install \"cuda-toolkit[cublas]==13.0.3\"
  or -DCUDAToolkit_ROOT=<toolkit> (one that has libcublas.so.13)"
)

# What isn't built for CUDA needs no library of CUDA's.
file(WRITE "${case_DIR}/src/more.cpp" "")
configure(
  "add_torch_op(op SOURCES op.cpp CUDA_SOURCES op.cu CUDA OFF)
cudaops_add_kernels(kernels SOURCES more.cpp more.cu ARCHITECTURES 90a)
target_link_libraries(op PRIVATE CudaOps::curand kernels)
target_link_libraries(kernels PRIVATE CudaOps::curand)"
)
expect_target(op state CPU_ONLY reason_code REQUESTED_OFF)
expect_target(kernels state CPU_ONLY reason_code NO_ARCHITECTURE)
case_build()

# Any other target is told when it is built.
configure("add_library(own OBJECT op.cpp)\ntarget_link_libraries(own PRIVATE CudaOps::curand)")
case_build(RESULT 1)
case_match(
  "a library of its author's own"
  "${case_STEP_STDOUT}"
  "#error \"CudaOps::curand can't be linked: it was not found\\. wanted libcurand\\.so; tried [^;]+/nvidia/\\*/lib; .*\\. Fix: [^;]+ -m pip install 'cuda-toolkit\\[curand\\]==13\\.0\\.3'; or -DCUDAToolkit_ROOT="
)
