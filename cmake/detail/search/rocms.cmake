# SPDX-License-Identifier: Apache-2.0
# Where ROCm installations are looked for, and in which order: AMD's own layout (/opt/rocm), the multi-arch one of
# distributions, conda's and that of Python wheels.

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

if(NOT COMMAND _cudaops_use)
  include("${CMAKE_CURRENT_LIST_DIR}/../base/use.cmake")
endif()
_cudaops_use(base/options base/programs base/state search/candidates)

# _cudaops_rocm_candidates(<out-places> <out-sources> <out-kinds>)
#
# The search order of FindCudaTorchMatch: parallel lists of a place (a directory, hipcc or clang++), where it came from,
# and `explicit`, `hint` or `found`. A hint that names no ROCm is passed over, with a line that says so.
function(_cudaops_rocm_candidates out_places out_sources out_kinds)
  set(places "")
  set(sources "")
  set(kinds "")

  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if("HIP" IN_LIST languages)
    _cudaops_rocm_add("${CMAKE_HIP_COMPILER}" "HIP was enabled before" explicit)
  elseif(CMAKE_HIP_COMPILER)
    _cudaops_rocm_add("${CMAKE_HIP_COMPILER}" "CMAKE_HIP_COMPILER" explicit)
  endif()
  if(CMAKE_HIP_COMPILER_ROCM_ROOT AND NOT "HIP" IN_LIST languages)
    _cudaops_rocm_add("${CMAKE_HIP_COMPILER_ROCM_ROOT}" "CMAKE_HIP_COMPILER_ROCM_ROOT" explicit)
  endif()
  foreach(name IN ITEMS ROCm_ROOT ROCM_ROOT ROCM_PATH)
    set(kind explicit)
    if(name STREQUAL "ROCM_PATH" AND NOT DEFINED CACHE{ROCM_PATH})
      # find_package(Torch) sets it to where it looks itself, whether there is a ROCm or not.
      set(kind hint)
    endif()
    if(${name})
      _cudaops_rocm_add("${${name}}" "${name}" ${kind})
    endif()
  endforeach()
  _cudaops_env(HIPCXX value)
  if(value)
    _cudaops_rocm_add("${value}" "environment HIPCXX" explicit)
  endif()

  # Hints: often left over from another ROCm.
  foreach(name IN ITEMS ROCM_PATH ROCM_HOME HIP_PATH)
    _cudaops_env(${name} value)
    if(value)
      _cudaops_rocm_add("${value}" "environment ${name}" hint)
    endif()
  endforeach()

  _cudaops_path_lookup(hipcc found)
  foreach(hipcc IN LISTS found)
    _cudaops_rocm_add("${hipcc}" "PATH" found)
  endforeach()

  _cudaops_environment_prefixes(prefixes)
  foreach(prefix IN LISTS prefixes)
    if(EXISTS "${prefix}/include/hip/hip_version.h")
      _cudaops_rocm_add("${prefix}" "environment of Python" found)
    endif()
  endforeach()
  _cudaops_state_get(TORCH_DIR torch)
  if(torch)
    cmake_path(GET torch PARENT_PATH site)
    if(EXISTS "${site}/_rocm_sdk_devel/include/hip/hip_version.h")
      _cudaops_rocm_add("${site}/_rocm_sdk_devel" "wheels beside torch" found)
    endif()
  endif()

  if(NOT DEFINED CMAKE_FIND_USE_CMAKE_SYSTEM_PATH OR CMAKE_FIND_USE_CMAKE_SYSTEM_PATH)
    set(system "")
    file(GLOB roots LIST_DIRECTORIES true "/opt/rocm-*")
    list(SORT roots COMPARE NATURAL ORDER DESCENDING)
    foreach(root IN LISTS roots ITEMS /usr)
      if(EXISTS "${root}/include/hip/hip_version.h" AND (EXISTS "${root}/bin/hipcc" OR NOT root STREQUAL "/usr"))
        list(APPEND system "${root}")
      endif()
    endforeach()
    if(EXISTS "/opt/rocm/include/hip/hip_version.h")
      list(PREPEND system "/opt/rocm")
    endif()
    foreach(root IN LISTS system)
      _cudaops_rocm_add("${root}" "${root}" found)
    endforeach()
  endif()

  set(${out_places} "${places}" PARENT_SCOPE)
  set(${out_sources} "${sources}" PARENT_SCOPE)
  set(${out_kinds} "${kinds}" PARENT_SCOPE)
endfunction()

# A macro: it grows the three lists of _cudaops_rocm_candidates, which alone calls it.
macro(_cudaops_rocm_add value source kind)
  _cudaops_rocm_place_of("${value}" _cudaops_place)
  if(_cudaops_place STREQUAL "")
    _cudaops_candidate_refuse(
      "${value}"
      "${source}"
      "${kind}"
      "ROCm"
      "a directory with include/hip/hip_version.h, or hipcc, or clang++"
      "ROCm"
      "ROCm_ROOT=<rocm>"
    )
  else()
    list(APPEND places "${_cudaops_place}")
    list(APPEND sources "${source}")
    list(APPEND kinds "${kind}")
  endif()
endmacro()

# _cudaops_rocm_place_of(<value> <out>): what a setting names: a directory, a program, a name on PATH; or empty.
function(_cudaops_rocm_place_of value out)
  set(${out} "" PARENT_SCOPE)
  _cudaops_setting_names("${value}" "hipcc|clang" directory program)
  if(NOT program STREQUAL "")
    set(${out} "${program}" PARENT_SCOPE)
  elseif(NOT directory STREQUAL "")
    # HIP_PATH may be <rocm>/hip, a setting may name <rocm>/bin.
    foreach(place IN ITEMS . .. ../..)
      if(EXISTS "${directory}/${place}/include/hip/hip_version.h" OR EXISTS "${directory}/${place}/bin/hipcc")
        cmake_path(SET root NORMALIZE "${directory}/${place}")
        string(REGEX REPLACE "(.)/$" "\\1" root "${root}")
        set(${out} "${root}" PARENT_SCOPE)
        return()
      endif()
    endforeach()
  endif()
endfunction()
