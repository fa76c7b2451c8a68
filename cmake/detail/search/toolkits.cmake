# SPDX-License-Identifier: Apache-2.0
# What names a CUDA toolkit: a setting, and the wheels beside torch.

_cudaops_use(base/paths base/stamps base/state search/candidates)

# _cudaops_toolkit_wheels(<out>): where wheels that torch brings may hold a compiler: since CUDA 13, with
# cuda-toolkit[nvcc].
function(_cudaops_toolkit_wheels out)
  set(all "")
  _cudaops_state_get(PYTHON_NVIDIA_DIRS nvidia)
  foreach(directory IN LISTS nvidia)
    _cudaops_glob_in(in "${directory}")
    file(GLOB wheels LIST_DIRECTORIES true "${in}/cu[0-9]*")
    _cudaops_follows_names("${directory}")
    list(APPEND all ${wheels})
  endforeach()
  set(${out} "${all}" PARENT_SCOPE)
endfunction()

# _cudaops_nvcc_of(<value> <out>): the nvcc that a setting names: a program, a directory, a name on PATH; or empty.
function(_cudaops_nvcc_of value out)
  set(${out} "" PARENT_SCOPE)
  _cudaops_setting_names("${value}" "nvcc" directory program)
  if(NOT program STREQUAL "")
    set(${out} "${program}" PARENT_SCOPE)
  elseif(NOT directory STREQUAL "")
    foreach(place IN ITEMS bin/nvcc nvcc ../bin/nvcc)
      _cudaops_follows("${directory}/${place}")
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
