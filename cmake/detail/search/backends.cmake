# SPDX-License-Identifier: Apache-2.0
# What a search, its messages and the choice among candidates must know of CUDA and of ROCm.

# _cudaops_backend(<CUDA|HIP> <prefix>)
#
#   <prefix>_KEY       the record of the chosen one in the state: TOOLKIT_<FIELD>, ROCM_<FIELD>
#   <prefix>_FIELDS    what is known of each candidate, besides SOURCE and KIND
#   <prefix>_PROGRAM   the field that names its compiler
#   <prefix>_LIST _DESCRIBE _PLACE_OF  the functions that list places, describe one, and read a setting
#   <prefix>_NAME      CUDA, ROCm, before a version
#   <prefix>_WHAT _WANTED _ABSENT _EXAMPLE  for a setting that names none
function(_cudaops_backend gpu prefix)
  if(gpu STREQUAL "HIP")
    set(key ROCM)
    set(
      fields
      ROOT
      VERSION
      COMPILER
      COMPILER_VERSION
      HIP_LANG_DIR
      DEVICE_LIB_DIR
      RUNTIME
      PROBLEM
      FIX
    )
    set(program COMPILER)
    set(functions _cudaops_rocm_candidates _cudaops_rocm_describe _cudaops_rocm_place_of)
    set(name ROCm)
    set(texts "ROCm" "a directory with include/hip/hip_version.h, or hipcc, or clang++" "ROCm" "ROCm_ROOT=<rocm>")
  else()
    set(key TOOLKIT)
    set(
      fields
      NVCC
      ROOT
      VERSION
      INCLUDE_DIRS
      LIB_DIR
      HOST_CONFIG
      PROBLEM
      FIX
    )
    set(program NVCC)
    set(functions _cudaops_toolkit_candidates _cudaops_toolkit_describe _cudaops_nvcc_of)
    set(name CUDA)
    set(texts "CUDA toolkit" "a directory with bin/nvcc, or nvcc itself" "bin/nvcc" "CUDAToolkit_ROOT=<toolkit>")
  endif()
  set(
    names
    LIST
    DESCRIBE
    PLACE_OF
    WHAT
    WANTED
    ABSENT
    EXAMPLE
  )
  foreach(field value IN ZIP_LISTS names functions)
    if(value)
      set(${prefix}_${field} "${value}" PARENT_SCOPE)
    endif()
  endforeach()
  list(SUBLIST names 3 -1 names)
  foreach(field value IN ZIP_LISTS names texts)
    set(${prefix}_${field} "${value}" PARENT_SCOPE)
  endforeach()
  set(${prefix}_KEY ${key} PARENT_SCOPE)
  set(${prefix}_FIELDS "${fields}" PARENT_SCOPE)
  set(${prefix}_PROGRAM ${program} PARENT_SCOPE)
  set(${prefix}_NAME ${name} PARENT_SCOPE)
endfunction()
