# SPDX-License-Identifier: Apache-2.0
# How architectures are written for CMake, and in the fatbin.

# _cudaops_arch_spell(<out> <entry>...)
#
# For the CUDA_ARCHITECTURES property and, once CUDA is enabled, CMAKE_CUDA_ARCHITECTURES: real and virtual of one arch
# become its plain number (90), which CMake turns into one option. CMake checks the variable only while it enables the
# language; property and device link take what stands there, so 100f works with 3.25 too.
function(_cudaops_arch_spell out)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "")
  set(entries "${arg_UNPARSED_ARGUMENTS}")
  set(result "")
  foreach(entry IN LISTS entries)
    string(REGEX REPLACE "-(real|virtual)$" "" arch "${entry}")
    if("${arch}-real" IN_LIST entries AND "${arch}-virtual" IN_LIST entries)
      list(APPEND result "${arch}")
    else()
      list(APPEND result "${entry}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES result)
  set(${out} "${result}" PARENT_SCOPE)
endfunction()

# _cudaops_arch_fatbin(<out> <entry>...): what the fatbin must hold for them: sm_90a, compute_120.
function(_cudaops_arch_fatbin out)
  set(result "")
  foreach(entry IN LISTS ARGN)
    if(entry MATCHES "^(.*)-real$")
      list(APPEND result "sm_${CMAKE_MATCH_1}")
    elseif(entry MATCHES "^(.*)-virtual$")
      list(APPEND result "compute_${CMAKE_MATCH_1}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES result)
  set(${out} "${result}" PARENT_SCOPE)
endfunction()
