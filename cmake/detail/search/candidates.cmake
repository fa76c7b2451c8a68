# SPDX-License-Identifier: Apache-2.0
# What the searches for CUDA toolkits and for ROCm have in common: what a setting names, and what becomes of one that
# names nothing.

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

if(NOT COMMAND _cudaops_use)
  include("${CMAKE_CURRENT_LIST_DIR}/../base/use.cmake")
endif()
_cudaops_use(base/message base/options base/programs base/state)

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

# _cudaops_candidate_refuse(<value> <source> <kind> <what> <wanted> <absent> <variable>)
#
# Of an `explicit` setting it is a mistake to be told, any other is passed over with a line. <what> was looked for,
# <wanted> is what such a setting may name, <absent> what isn't there; <variable>=<...> names one.
function(
  _cudaops_candidate_refuse
  value
  source
  kind
  what
  wanted
  absent
  variable
)
  if(kind STREQUAL "explicit")
    _cudaops_stop(
      "find_package(CudaTorchMatch): ${source} names no ${what}."
      FACTS "found   ${value}" "wanted  ${wanted}"
      FIX "-D${variable}   (or unset ${source})"
    )
  endif()
  # At once, because no list holds a ';' or a '[' that stands in such a value.
  _cudaops_status("CudaTorchMatch: passed over ${value} (${source}): no ${absent} there")
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
