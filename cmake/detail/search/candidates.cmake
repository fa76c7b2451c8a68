# SPDX-License-Identifier: Apache-2.0
# What the searches for CUDA toolkits and for ROCm have in common: what a setting names, and what becomes of one that
# names nothing.

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

if(NOT COMMAND _cudaops_use)
  include("${CMAKE_CURRENT_LIST_DIR}/../base/use.cmake")
endif()
_cudaops_use(base/message base/options base/programs base/replay base/state base/stamps)

# _cudaops_setting_names(<value> <regex> <out-directory> <out-program>)
#
# A directory; or a program, by its path or by a name that PATH knows; or neither. <regex> is what a program is called,
# whatever stands before or behind it: CUDA_HOME=<some file> is no toolkit.
function(_cudaops_setting_names value regex out_directory out_program)
  set(${out_directory} "" PARENT_SCOPE)
  set(${out_program} "" PARENT_SCOPE)
  string(STRIP "${value}" value)
  _cudaops_expand_home(value)
  if(value STREQUAL "" OR value MATCHES "^:|:$|;")
    return()
  endif()
  _cudaops_follows("${value}")
  if(IS_DIRECTORY "${value}")
    set(${out_directory} "${value}" PARENT_SCOPE)
  elseif(EXISTS "${value}")
    cmake_path(GET value FILENAME name)
    if(name MATCHES "${regex}")
      set(${out_program} "${value}" PARENT_SCOPE)
    endif()
  elseif(NOT value MATCHES "/")
    _cudaops_path_lookup("${value}" found)
    if(found)
      list(GET found 0 program)
      set(${out_program} "${program}" PARENT_SCOPE)
    endif()
  endif()
endfunction()

# _cudaops_candidate_add(<value> <source> <explicit|hint|found>): what a setting or a place of the search order names.
#
# A macro: it grows the lists `places`, `sources` and `kinds` of the function that lists candidates, with the backend_* of
# _cudaops_search().
macro(_cudaops_candidate_add value source kind)
  cmake_language(CALL ${backend_PLACE_OF} "${value}" _cudaops_place)
  if(_cudaops_place STREQUAL "")
    _cudaops_candidate_refuse("${value}" "${source}" "${kind}")
  else()
    list(APPEND places "${_cudaops_place}")
    list(APPEND sources "${source}")
    list(APPEND kinds "${kind}")
  endif()
endmacro()

# _cudaops_candidate_refuse(<value> <source> <kind>)
#
# Of an `explicit` setting it is a mistake to be told, any other is passed over with a line.
function(_cudaops_candidate_refuse value source kind)
  if(kind STREQUAL "explicit")
    _cudaops_stop(
      "find_package(CudaTorchMatch): ${source} names no ${backend_WHAT}."
      FACTS "found   ${value}" "wanted  ${backend_WANTED}"
      FIX "-D${backend_EXAMPLE}   (or unset ${source})"
    )
  endif()
  _cudaops_status("CudaTorchMatch: passed over ${value} (${source}): no ${backend_ABSENT} there")
endfunction()

# _cudaops_environment_prefixes(<out>): of the active conda environment and of torch's Python.
function(_cudaops_environment_prefixes out)
  _cudaops_env(CONDA_PREFIX prefixes)
  _cudaops_state_get(PYTHON_EXECUTABLE python)
  if(python)
    cmake_path(GET python PARENT_PATH bin)
    cmake_path(GET bin PARENT_PATH prefix)
    list(APPEND prefixes "${prefix}")
  endif()
  list(REMOVE_DUPLICATES prefixes)
  set(${out} "${prefixes}" PARENT_SCOPE)
endfunction()
