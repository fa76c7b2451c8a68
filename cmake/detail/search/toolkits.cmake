# SPDX-License-Identifier: Apache-2.0
# Where CUDA toolkits are looked for, and in which order.

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

if(NOT COMMAND _cudaops_use)
  include("${CMAKE_CURRENT_LIST_DIR}/../base/use.cmake")
endif()
_cudaops_use(base/options base/paths base/programs base/state search/candidates)

# _cudaops_toolkit_candidates(<out-nvccs> <out-sources> <out-kinds>)
#
# The search order of FindCudaTorchMatch: parallel lists of nvcc, where it came from, and `explicit`, `hint` or
# `found`. A hint that names no toolkit is passed over, with a line that says so.
function(_cudaops_toolkit_candidates out_nvccs out_sources out_kinds)
  set(nvccs "")
  set(sources "")
  set(kinds "")

  # What the user named. An nvcc that isn't there is a mistake to be told, not to be passed over.
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if("CUDA" IN_LIST languages)
    _cudaops_toolkit_add("${CMAKE_CUDA_COMPILER}" "CUDA was enabled before" explicit)
  elseif(CMAKE_CUDA_COMPILER)
    _cudaops_toolkit_add("${CMAKE_CUDA_COMPILER}" "CMAKE_CUDA_COMPILER" explicit)
  endif()
  if(CUDAToolkit_ROOT)
    _cudaops_toolkit_add("${CUDAToolkit_ROOT}" "CUDAToolkit_ROOT" explicit)
  endif()
  _cudaops_env(CUDAToolkit_ROOT value)
  if(value)
    _cudaops_toolkit_add("${value}" "environment CUDAToolkit_ROOT" explicit)
  endif()
  _cudaops_env(CUDACXX value)
  if(value)
    _cudaops_toolkit_add("${value}" "environment CUDACXX" explicit)
  endif()

  # Hints: often left over from another toolkit.
  foreach(name IN ITEMS CUDA_HOME CUDA_PATH)
    _cudaops_env(${name} value)
    if(value)
      _cudaops_toolkit_add("${value}" "environment ${name}" hint)
    endif()
  endforeach()

  _cudaops_path_lookup(nvcc found)
  foreach(nvcc IN LISTS found)
    _cudaops_toolkit_add("${nvcc}" "PATH" found)
  endforeach()

  _cudaops_environment_prefixes(prefixes)
  foreach(prefix IN LISTS prefixes)
    if(EXISTS "${prefix}/bin/nvcc")
      _cudaops_toolkit_add("${prefix}/bin/nvcc" "environment of Python" found)
    endif()
  endforeach()

  # Wheels beside torch. Since CUDA 13 they hold a compiler where cuda-toolkit[nvcc] is installed.
  _cudaops_state_get(PYTHON_NVIDIA_DIRS nvidia)
  foreach(directory IN LISTS nvidia)
    _cudaops_glob_in(in "${directory}")
    file(GLOB wheels LIST_DIRECTORIES true "${in}/cu[0-9]*")
    foreach(wheel IN LISTS wheels)
      if(EXISTS "${wheel}/bin/nvcc")
        _cudaops_toolkit_add("${wheel}/bin/nvcc" "wheels beside torch" found)
      endif()
    endforeach()
  endforeach()

  _cudaops_store(store)
  if(EXISTS "${store}/toolkits")
    _cudaops_use(search/provide)
    _cudaops_provided_toolkits(provided)
    foreach(root IN LISTS provided)
      _cudaops_toolkit_add("${root}" "store" found)
    endforeach()
  endif()

  if(NOT DEFINED CMAKE_FIND_USE_CMAKE_SYSTEM_PATH OR CMAKE_FIND_USE_CMAKE_SYSTEM_PATH)
    if(EXISTS "/usr/local/cuda/bin/nvcc")
      _cudaops_toolkit_add("/usr/local/cuda/bin/nvcc" "/usr/local/cuda" found)
    endif()
    file(GLOB roots LIST_DIRECTORIES true "/usr/local/cuda-*")
    list(SORT roots COMPARE NATURAL ORDER DESCENDING)
    foreach(root IN LISTS roots)
      if(EXISTS "${root}/bin/nvcc")
        _cudaops_toolkit_add("${root}/bin/nvcc" "${root}" found)
      endif()
    endforeach()
  endif()

  set(${out_nvccs} "${nvccs}" PARENT_SCOPE)
  set(${out_sources} "${sources}" PARENT_SCOPE)
  set(${out_kinds} "${kinds}" PARENT_SCOPE)
endfunction()

# A macro: it grows the three lists of _cudaops_toolkit_candidates, which alone calls it.
macro(_cudaops_toolkit_add value source kind)
  _cudaops_nvcc_of("${value}" _cudaops_nvcc)
  if(_cudaops_nvcc STREQUAL "")
    _cudaops_candidate_refuse(
      "${value}"
      "${source}"
      "${kind}"
      "CUDA toolkit"
      "a directory with bin/nvcc, or nvcc itself"
      "bin/nvcc"
      "CUDAToolkit_ROOT=<toolkit>"
    )
  else()
    list(APPEND nvccs "${_cudaops_nvcc}")
    list(APPEND sources "${source}")
    list(APPEND kinds "${kind}")
  endif()
endmacro()

# _cudaops_nvcc_of(<value> <out>): the nvcc that a setting names: a program, a directory, a name on PATH; or empty.
function(_cudaops_nvcc_of value out)
  set(${out} "" PARENT_SCOPE)
  _cudaops_setting_names("${value}" "nvcc" directory program)
  if(NOT program STREQUAL "")
    set(${out} "${program}" PARENT_SCOPE)
  elseif(NOT directory STREQUAL "")
    foreach(place IN ITEMS bin/nvcc nvcc ../bin/nvcc)
      if(EXISTS "${directory}/${place}" AND NOT IS_DIRECTORY "${directory}/${place}")
        cmake_path(SET nvcc NORMALIZE "${directory}/${place}")
        set(${out} "${nvcc}" PARENT_SCOPE)
        return()
      endif()
    endforeach()
  endif()
endfunction()

# _cudaops_toolkit_headers_only(<out>): a sentence about wheels that hold CUDA's headers and libraries but no nvcc.
function(_cudaops_toolkit_headers_only out)
  set(${out} "" PARENT_SCOPE)
  _cudaops_state_get(PYTHON_NVIDIA_DIRS nvidia)
  foreach(directory IN LISTS nvidia)
    _cudaops_glob_in(in "${directory}")
    file(GLOB headers "${in}/cu[0-9]*/include/cuda_runtime_api.h" "${in}/cuda_runtime/include/cuda_runtime_api.h")
    foreach(header IN LISTS headers)
      cmake_path(GET header PARENT_PATH include)
      cmake_path(GET include PARENT_PATH root)
      if(NOT EXISTS "${root}/bin/nvcc")
        set(${out} "${root} holds CUDA's headers and libraries (wheels that torch brings), but no nvcc" PARENT_SCOPE)
        return()
      endif()
    endforeach()
  endforeach()
endfunction()
