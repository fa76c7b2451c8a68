# What find_package(CudaTorchMatch) finds and says where HIP is wanted: ROCm builds of torch, and CUDAOPS_BACKEND=HIP.

include("${case_TESTS_DIR}/fixtures/match.cmake")

# hip_machine([<argument of fake_torch>...]): the usual machine: ROCm 6.4 in <case>/rocm and a torch for it in
# <case>/venv. hip_ARGS names both, and an architecture.
function(hip_machine)
  fake_rocm("${case_DIR}/rocm" VERSION 6.4)
  if(ARGC EQUAL 0)
    set(ARGV VERSION 2.13.0 ROCM 6.4)
  endif()
  fake_torch("${case_DIR}/venv" ${ARGV})
endfunction()

set(hip_TORCH "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
set(hip_ROCM "-DROCm_ROOT=${case_DIR}/rocm")
set(hip_ARCH -DCMAKE_HIP_ARCHITECTURES=gfx90a)
set(hip_ARGS ${hip_TORCH} ${hip_ROCM} ${hip_ARCH})

# hip_library(<text>): text of a project that makes a library of a kernel in HIP's own language.
function(hip_library out)
  file(
    WRITE "${case_DIR}/kernel.hip"
    "#include <hip/hip_runtime.h>\n__global__ void kernel(int* x) { x[threadIdx.x] = 1; }\n"
  )
  set(${out} "add_library(kernel SHARED [==[${case_DIR}/kernel.hip]==])" PARENT_SCOPE)
endfunction()

# expect_code_objects(<file> <gfx>...): what the file's .hip_fatbin is for, no more and no less.
function(expect_code_objects file)
  case_step(code_objects COMMAND objcopy -O binary --only-section=.hip_fatbin "${file}" "${case_DIR}/fatbin")
  set(found "")
  if(EXISTS "${case_DIR}/fatbin")
    file(STRINGS "${case_DIR}/fatbin" texts REGEX "amdgcn-amd-amdhsa--")
    string(REGEX MATCHALL "amdgcn-amd-amdhsa--gfx[0-9a-f]+[:a-z0-9+-]*" found "${texts}")
    list(TRANSFORM found REPLACE "^amdgcn-amd-amdhsa--" "")
  endif()
  list(REMOVE_DUPLICATES found)
  list(SORT found)
  set(wanted ${ARGN})
  list(SORT wanted)
  case_equal("code objects of ${file}" "${found}" "${wanted}")
endfunction()

# hip_sources(): the sources of an op in <case>/src: op.cpp (host), op_gpu.cpp (registers kernels), op.cu with its header,
# all in CUDA's spelling.
function(hip_sources)
  file(WRITE "${case_DIR}/src/op.cpp" "int host() { return 1; }\n")
  file(
    WRITE "${case_DIR}/src/op.h"
    "#pragma once\n#include <cuda_runtime.h>\ncudaError_t launch(int* x, cudaStream_t stream);\n"
  )
  file(
    WRITE "${case_DIR}/src/op_gpu.cpp"
    "#include \"op.h\"\n#ifndef USE_ROCM\n#error USE_ROCM is not seen\n#endif\ncudaError_t run(int* x) { return launch(x, nullptr); }\n"
  )
  file(
    WRITE "${case_DIR}/src/op.cu"
    "#include \"op.h\"\n#ifndef USE_ROCM\n#error USE_ROCM is not seen\n#endif\n__global__ void kernel(int* x) { x[threadIdx.x] = 1; }\n"
    "cudaError_t launch(int* x, cudaStream_t stream) {\n  kernel(x);\n  return stream ? cudaErrorInvalidValue : cudaGetLastError();\n}\n"
  )
endfunction()
