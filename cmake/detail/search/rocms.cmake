# SPDX-License-Identifier: Apache-2.0
# What names a ROCm: a setting, and the wheels beside torch.

_cudaops_use(base/stamps base/state search/candidates)

# _cudaops_rocm_wheels(<out>): where wheels that torch brings may hold a ROCm.
function(_cudaops_rocm_wheels out)
  _cudaops_state_get(TORCH_DIR torch)
  set(${out} "" PARENT_SCOPE)
  if(torch)
    cmake_path(GET torch PARENT_PATH site)
    set(${out} "${site}/_rocm_sdk_devel" PARENT_SCOPE)
  endif()
endfunction()

# _cudaops_rocm_place_of(<value> <out>): what a setting names: a directory, a program, a name on PATH; or empty.
function(_cudaops_rocm_place_of value out)
  set(${out} "" PARENT_SCOPE)
  _cudaops_setting_names("${value}" "hipcc|clang" directory program)
  if(NOT program STREQUAL "")
    set(${out} "${program}" PARENT_SCOPE)
  elseif(NOT directory STREQUAL "")
    # HIP_PATH may be <rocm>/hip, a setting may name <rocm>/bin.
    foreach(place IN ITEMS . .. ../..)
      _cudaops_follows("${directory}/${place}/include/hip/hip_version.h" "${directory}/${place}/bin/hipcc")
      if(EXISTS "${directory}/${place}/include/hip/hip_version.h" OR EXISTS "${directory}/${place}/bin/hipcc")
        cmake_path(SET root NORMALIZE "${directory}/${place}")
        string(REGEX REPLACE "(.)/$" "\\1" root "${root}")
        set(${out} "${root}" PARENT_SCOPE)
        return()
      endif()
    endforeach()
  endif()
endfunction()
