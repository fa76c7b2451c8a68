# SPDX-License-Identifier: Apache-2.0
# What a search, its messages and the choice among candidates must know of CUDA and of ROCm.

# _cudaops_backend(<CUDA|HIP> <prefix>)
#
#   <prefix>_KEY       the record of the chosen one in the state: TOOLKIT_<FIELD>, ROCM_<FIELD>
#   <prefix>_FIELDS    what is known of each candidate, besides SOURCE and KIND
#   <prefix>_PROGRAM   the field that names its compiler
#   <prefix>_DESCRIBE _PLACE_OF _WHEELS  functions: what is at a place, the place that a setting names, places of wheels
#   <prefix>_JOIN      function, or empty: the place in whose stead a tree of links to it and others is taken
#   <prefix>_NAME      CUDA, ROCm, before a version
#   <prefix>_WHAT _WANTED _ABSENT _EXAMPLE  for a setting that names none
function(_cudaops_backend gpu prefix)
  if(gpu STREQUAL "HIP")
    set(KEY ROCM)
    set(FIELDS "ROOT;VERSION;COMPILER;COMPILER_VERSION;HIP_LANG_DIR;DEVICE_LIB_DIR;RUNTIME;PROBLEM;FIX")
    set(PROGRAM COMPILER)
    set(DESCRIBE _cudaops_rocm_describe)
    set(PLACE_OF _cudaops_rocm_place_of)
    set(JOIN "")
    set(WHEELS _cudaops_rocm_wheels)
    set(NAME ROCm)
    set(WHAT "ROCm")
    set(WANTED "a directory with include/hip/hip_version.h, or hipcc, or clang++")
    set(ABSENT "ROCm")
    set(EXAMPLE "ROCm_ROOT=<rocm>")
  else()
    set(KEY TOOLKIT)
    set(FIELDS "NVCC;ROOT;VERSION;INCLUDE_DIRS;LIB_DIR;HOST_CONFIG;PROBLEM;FIX")
    set(PROGRAM NVCC)
    set(DESCRIBE _cudaops_toolkit_describe)
    set(PLACE_OF _cudaops_nvcc_of)
    set(JOIN _cudaops_toolkit_join)
    set(WHEELS _cudaops_toolkit_wheels)
    set(NAME CUDA)
    set(WHAT "CUDA toolkit")
    set(WANTED "a directory with bin/nvcc, or nvcc itself")
    set(ABSENT "bin/nvcc")
    set(EXAMPLE "CUDAToolkit_ROOT=<toolkit>")
  endif()
  set(names "KEY;FIELDS;PROGRAM;DESCRIBE;PLACE_OF;JOIN;WHEELS;NAME;WHAT;WANTED;ABSENT;EXAMPLE")
  foreach(name IN LISTS names)
    set(${prefix}_${name} "${${name}}" PARENT_SCOPE)
  endforeach()
endfunction()
