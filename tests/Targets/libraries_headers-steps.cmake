# Where torch brings a library, its users see the headers of that copy, and the toolkit's of everything else: wheels of
# CUDA 13 hold the headers of all libraries and of the runtime in one directory.
fake_torch("${case_DIR}/venv" VERSION 2.15.0 CUDA 13.2)
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
set(
  case_ARGS
  "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python"
  "-DCUDAToolkit_ROOT=${case_DIR}/cuda"
  -DCMAKE_CUDA_ARCHITECTURES=80
)
set(site "${case_DIR}/venv/lib/python${case_PYTHON_VERSION}/site-packages")
set(wheels "${site}/nvidia/cu13")

# headers(<include directory> <release>): of the runtime and of libraries, each saying which copy it is of.
function(headers include release)
  foreach(
    name
    IN
    ITEMS driver_types cuda_fp16 cusparse curand curand_kernel curand_normal
  )
    string(TOUPPER ${name} upper)
    file(WRITE "${include}/${name}.h" "#pragma once\n#define OF_${upper} ${release}\n")
  endforeach()
  file(WRITE "${include}/cublas_v2.h" "#pragma once\n#define OF_CUBLAS_V2 ${release}\n#include \"cublas_api.h\"\n")
  file(
    WRITE "${include}/cublas_api.h"
    "#pragma once\n#define OF_CUBLAS_API ${release}\n#include \"driver_types.h\"\n#include <cuda_fp16.h>\n"
  )
  file(WRITE "${include}/cublasLt.h" "#pragma once\n#define OF_CUBLASLT ${release}\n#include <cublas_api.h>\n")
  file(WRITE "${include}/cusolverDn.h" "#pragma once\n#define OF_CUSOLVERDN ${release}\n#include \"cublas_v2.h\"\n")
  file(WRITE "${include}/cufft.h" "#pragma once\n#define OF_CUFFT ${release}\n#include \"driver_types.h\"\n")
  file(WRITE "${include}/cufftXt.h" "#pragma once\n#define OF_CUFFTXT ${release}\n#include \"cudalibxt.h\"\n")
  file(WRITE "${include}/cudalibxt.h" "#pragma once\n#define OF_CUDALIBXT ${release}\n")
endfunction()
headers("${wheels}/include" 132)
headers("${case_DIR}/cuda/include" 130)
# The toolkit may bring no library at all.
file(REMOVE "${case_DIR}/cuda/include/cudalibxt.h" "${case_DIR}/cuda/include/cufft.h")
foreach(
  library
  IN
  ITEMS cublas cublasLt cusparse cusolver cufft
)
  fake_library("${wheels}/lib/lib${library}.so.12")
endforeach()
fake_library("${case_DIR}/cuda/lib64/libcurand.so.10")
# A wheel of its own, with headers in a directory.
fake_library("${site}/nvidia/nccl/lib/libnccl.so.2")
file(WRITE "${site}/nvidia/nccl/include/nccl.h" "#pragma once\n#define OF_NCCL 132\n")
file(WRITE "${site}/nvidia/nccl/include/nccl_device.h" "#pragma once\n#include \"nccl_device/core.h\"\n")
file(
  WRITE "${site}/nvidia/nccl/include/nccl_device/core.h"
  "#pragma once\n#define OF_NCCL_DEVICE 132\n#include <nccl.h>\n"
)

# source(<name> <headers> <macro=copy>...): sees these headers of these copies.
function(source name includes)
  set(text "")
  foreach(include IN LISTS includes)
    string(APPEND text "#include <${include}>\n")
  endforeach()
  string(APPEND text "#include <cuda_runtime.h>\n#include <cuda_fp16.h>\n")
  foreach(pair IN LISTS ARGN ITEMS CUDART_VERSION=13000 OF_CUDA_FP16=130)
    string(REPLACE "=" " != " condition "${pair}")
    string(APPEND text "#if ${condition}\n#error ${pair}\n#endif\n")
  endforeach()
  file(WRITE "${case_DIR}/src/${name}.cpp" "${text}")
  file(WRITE "${case_DIR}/src/${name}.cu" "${text}")
endfunction()
source(cublas "cublas_v2.h" OF_CUBLAS_V2=132 OF_CUBLAS_API=132 OF_DRIVER_TYPES=130)
source(cublasLt "cublasLt.h" OF_CUBLASLT=132 OF_CUBLAS_API=132 OF_DRIVER_TYPES=130)
source(cusolver "cusolverDn.h;cusparse.h" OF_CUSOLVERDN=132 OF_CUBLAS_V2=132 OF_CUSPARSE=132)
source(cufft "cufftXt.h;cufft.h" OF_CUFFTXT=132 OF_CUFFT=132 OF_CUDALIBXT=132 OF_DRIVER_TYPES=130)
source(curand "curand.h;curand_kernel.h" OF_CURAND=130 OF_CURAND_KERNEL=130)
source(nccl "nccl_device.h" OF_NCCL=132 OF_NCCL_DEVICE=132)
# The headers of this one library, not those beside it.
source(cusparse "cusparse.h;cublas_v2.h" OF_CUSPARSE=132 OF_CUBLAS_V2=130)
set(
  code
  [==[
foreach(name IN ITEMS cublas cublasLt cusolver cufft curand nccl cusparse)
  add_torch_op(op_${name} SOURCES ${name}.cpp CUDA_SOURCES ${name}.cu)
  cudaops_add_kernels(kernels_${name} SOURCES ${name}.cpp ${name}.cu)
  # For an op the toolkit's headers are linked before.
  target_link_libraries(op_${name} PRIVATE CudaOps::${name})
  target_link_libraries(kernels_${name} PRIVATE CudaOps::${name})
endforeach()
]==]
)
configure("${code}")
expect_target(op_cublas state BUILT)
case_build()
# Configured again, nothing is made again.
file(GLOB_RECURSE before "${case_BUILD_DIR}/CudaOps/include/*")
configure("${code}")
case_build()
case_match("a second build" "${case_STEP_STDOUT}" "ninja: no work to do")

# Another release of the wheel, with one header less and one more.
file(REMOVE "${wheels}/include/cublas_api.h")
file(WRITE "${wheels}/include/cublas_v2.h" "#pragma once\n#define OF_CUBLAS_V2 132\n#include \"cublas_new.h\"\n")
file(WRITE "${wheels}/include/cublas_new.h" "#pragma once\n#define OF_CUBLAS_API 132\n#include \"driver_types.h\"\n")
file(WRITE "${wheels}/include/cublasLt.h" "#pragma once\n#define OF_CUBLASLT 132\n#include <cublas_new.h>\n")
configure("${code}")
case_build()
file(GLOB links RELATIVE "${case_BUILD_DIR}/CudaOps/include/cublas" "${case_BUILD_DIR}/CudaOps/include/cublas/*")
case_equal("links to the headers of cuBLAS" "${links}" "cublasLt.h;cublas_new.h;cublas_v2.h")

# conda: <prefix>/lib holds links, the headers of every library are below targets/, cuDNN's in <prefix>/include, together
# with those of all other packages.
file(REMOVE_RECURSE "${case_DIR}/venv" "${case_BUILD_DIR}")
fake_torch("${case_DIR}/venv" VERSION 2.15.0 CUDA 13.2 LAYOUT CONDA)
set(targets "${case_DIR}/venv/targets/x86_64-linux")
headers("${targets}/include" 132)
file(WRITE "${targets}/include/cuda_runtime.h" "#error the runtime of another release\n")
file(WRITE "${case_DIR}/venv/include/cudnn.h" "#pragma once\n#define OF_CUDNN 132\n")
file(WRITE "${case_DIR}/venv/include/string.h" "#error a header of another package\n")
fake_library("${case_DIR}/venv/lib/libcudnn.so.9")
fake_library("${targets}/lib/libcublas.so.12")
file(CREATE_LINK "${targets}/lib/libcublas.so.12" "${case_DIR}/venv/lib/libcublas.so.12" SYMBOLIC)
source(both "cudnn.h;cublas_v2.h;string.h" OF_CUDNN=132 OF_CUBLAS_V2=132 OF_CUBLAS_API=132 OF_DRIVER_TYPES=130)
configure(
  "cudaops_add_kernels(both SOURCES both.cpp both.cu)
target_link_libraries(both PRIVATE CudaOps::cublas CudaOps::cudnn)"
)
case_build()
