# SPDX-License-Identifier: Apache-2.0
# Programs of the machine: those on PATH, and the Python that runs our own scripts.

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

if(NOT COMMAND _cudaops_use)
  include("${CMAKE_CURRENT_LIST_DIR}/../base/use.cmake")
endif()
_cudaops_use(base/options base/stamps base/state)

# _cudaops_path_lookup(<program> <out>): every such file on the PATH of the first configure, in its order.
function(_cudaops_path_lookup program out)
  set(${out} "" PARENT_SCOPE)
  if(DEFINED CMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH AND NOT CMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH)
    return()
  endif()
  _cudaops_env(PATH path)
  set(found "")
  string(REPLACE ":" ";" directories "${path}")
  foreach(directory IN LISTS directories)
    if(NOT directory STREQUAL "" AND EXISTS "${directory}/${program}" AND NOT IS_DIRECTORY "${directory}/${program}")
      cmake_path(SET file NORMALIZE "${directory}/${program}")
      list(APPEND found "${file}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES found)
  get_property(recording GLOBAL PROPERTY _CUDAOPS_REPLAY_RECORDING)
  if(recording)
    list(REMOVE_ITEM directories "")
    list(TRANSFORM directories APPEND "/${program}")
    _cudaops_follows(${directories})
  endif()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# _cudaops_python_tool(<out>)
#
# An interpreter for our own scripts, which need no package: torch's, else the first on PATH; or empty.
function(_cudaops_python_tool out)
  _cudaops_state_get(PYTHON_EXECUTABLE python)
  if(python STREQUAL "")
    _cudaops_path_lookup(python3 found)
    if(found)
      list(GET found 0 python)
    endif()
  endif()
  set(${out} "${python}" PARENT_SCOPE)
endfunction()
