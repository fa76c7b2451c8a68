# SPDX-License-Identifier: Apache-2.0
# What is read from an op's sources before they are compiled.

_cudaops_use(base/message)

# _cudaops_check_stable_sources(<command(target)> <source>...)
#
# Headers of the full ABI in a STABLE op end in hundreds of lines of C++ errors, or in a library that is not stable.
function(_cudaops_check_stable_sources command)
  set(
    headers
    "(torch/(extension|all|torch|types|script|library|python)\\.h|ATen/[^>\"]*|c10/(core|cuda)/[^>\"]*|pybind11/[^>\"]*)"
  )
  set(include "[ \t]*#[ \t]*include[ \t]*[<\"]${headers}[>\"]")
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE path)
    if(source MATCHES "\\$<" OR NOT EXISTS "${path}")
      continue()
    endif()
    file(STRINGS "${path}" lines REGEX "^${include}" LIMIT_COUNT 1)
    if(lines STREQUAL "")
      continue()
    endif()
    # Under #if, and in a comment, it may be for another build than this one.
    file(STRINGS "${path}" lines REGEX "^[ \t]*#[ \t]*(if|endif)|^${include}|/\\*|\\*/")
    set(line "")
    set(depth 0)
    set(comment FALSE)
    foreach(candidate IN LISTS lines)
      if(candidate MATCHES "^[ \t]*#[ \t]*if" AND NOT comment)
        math(EXPR depth "${depth} + 1")
      elseif(candidate MATCHES "^[ \t]*#[ \t]*endif" AND NOT comment)
        math(EXPR depth "${depth} - 1")
      elseif(candidate MATCHES "^${include}" AND depth EQUAL 0 AND NOT comment)
        set(line "${candidate}")
        break()
      endif()
      if(candidate MATCHES "/\\*[^/]*$" AND NOT candidate MATCHES "\\*/[^*]*$")
        set(comment TRUE)
      elseif(candidate MATCHES "\\*/")
        set(comment FALSE)
      endif()
    endforeach()
    if(line STREQUAL "")
      continue()
    endif()
    string(REGEX MATCH "[<\"]([^>\"]+)[>\"]" ignored "${line}")
    set(header "${CMAKE_MATCH_1}")
    file(READ "${path}" text)
    string(FIND "${text}" "${line}" position)
    string(SUBSTRING "${text}" 0 ${position} before)
    string(REGEX REPLACE "[^\n]" "" breaks "${before}")
    string(LENGTH "${breaks}" number)
    math(EXPR number "${number} + 1")
    set(abi FULL)
    if(header MATCHES "extension|python|pybind11")
      set(abi PYBIND)
    endif()
    set(fix "ABI ${abi}")
    if(abi STREQUAL "PYBIND")
      set(fix "ABI PYBIND   (with PYTHON_MODULE)")
    endif()
    _cudaops_stop(
      "${command}: a STABLE op doesn't include ${header}."
      FACTS "found   ${path}:${number}: ${line}" "wanted  torch/csrc/stable/*, torch/headeronly/*"
      FIX "${fix}" "or the stable ABI: torch/csrc/stable/library.h and tensor.h"
    )
  endforeach()
endfunction()
