# SPDX-License-Identifier: Apache-2.0
# CudaOps::openmp: OpenMP by the runtime that torch loads.

_cudaops_use(base/message base/state)

# _cudaops_targets_openmp()
#
# Where torch has a libgomp of its own, that file is the one in the process, whichever one is linked: its SONAME is loaded
# already. Linked itself, it is the linker that says what it lacks, such as functions of a newer compiler, and nobody asks
# which directory hides which. Elsewhere the compiler says what its runtime is and where it lies.
function(_cudaops_targets_openmp)
  if(TARGET CudaOps::openmp)
    return()
  endif()
  add_library(CudaOps::openmp INTERFACE IMPORTED GLOBAL)
  # clang as HIP's compiler would call functions of LLVM's runtime, which may not be what C++ sources of the target use.
  set_target_properties(
    CudaOps::openmp
    PROPERTIES
      INTERFACE_COMPILE_OPTIONS
        "$<$<COMPILE_LANGUAGE:C,CXX>:-fopenmp>;$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-Xcompiler=-fopenmp>;$<$<COMPILE_LANG_AND_ID:CUDA,Clang>:-fopenmp>"
  )
  _cudaops_state_get(TORCH_LIB_DIR lib)
  if(lib AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND EXISTS "${lib}/libgomp.so.1")
    add_library(CudaOps::openmp_library SHARED IMPORTED GLOBAL)
    set_target_properties(CudaOps::openmp_library PROPERTIES IMPORTED_LOCATION "${lib}/libgomp.so.1" SYSTEM OFF)
    set_property(TARGET CudaOps::openmp PROPERTY INTERFACE_LINK_LIBRARIES CudaOps::openmp_library)
  else()
    # nvcc's device link knows no -fopenmp.
    set_property(TARGET CudaOps::openmp PROPERTY INTERFACE_LINK_OPTIONS "$<HOST_LINK:-fopenmp>")
  endif()
endfunction()

# _cudaops_openmp_note(<target> <linked>...): what there is to know of the OpenMP among the targets that an op links.
function(_cudaops_openmp_note target)
  _cudaops_state_get(TORCH_LIB_DIR lib)
  if("OpenMP::OpenMP_CXX" IN_LIST ARGN AND TARGET CudaOps::openmp_library)
    _cudaops_status(
      "add_torch_op(${target}): OpenMP::OpenMP_CXX is the compiler's libgomp, and torch loads ${lib}/libgomp.so.1, which CMake warns of: CudaOps::openmp is torch's"
    )
  elseif("CudaOps::openmp" IN_LIST ARGN AND CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND EXISTS "${lib}/libgomp.so.1")
    _cudaops_status(
      "add_torch_op(${target}): clang's OpenMP uses another runtime, libomp, than torch, libgomp: two pools of threads in one process"
    )
  endif()
endfunction()
