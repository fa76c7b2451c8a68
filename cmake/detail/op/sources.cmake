# SPDX-License-Identifier: Apache-2.0
# What is read from an op's sources before they are compiled.

_cudaops_use(base/message)

# _cudaops_certain_line(<source> <regex> <out> <out-path>)
#
# The first line of a source that begins with what matches, and the source's path. Under #if, and in a comment, it may be
# for another build than this one: such a line is none. A source that isn't there yet has none either.
function(_cudaops_certain_line source regex out out_path)
  set(${out} "" PARENT_SCOPE)
  cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE path)
  set(${out_path} "${path}" PARENT_SCOPE)
  if(source MATCHES "\\$<" OR NOT EXISTS "${path}")
    return()
  endif()
  file(STRINGS "${path}" lines REGEX "^${regex}" LIMIT_COUNT 1)
  if(lines STREQUAL "")
    return()
  endif()
  file(STRINGS "${path}" lines REGEX "^[ \t]*#[ \t]*(if|endif)|^${regex}|/\\*|\\*/")
  set(depth 0)
  set(comment FALSE)
  foreach(candidate IN LISTS lines)
    if(candidate MATCHES "^[ \t]*#[ \t]*if" AND NOT comment)
      math(EXPR depth "${depth} + 1")
    elseif(candidate MATCHES "^[ \t]*#[ \t]*endif" AND NOT comment)
      math(EXPR depth "${depth} - 1")
    elseif(candidate MATCHES "^${regex}" AND depth EQUAL 0 AND NOT comment)
      set(${out} "${candidate}" PARENT_SCOPE)
      return()
    endif()
    if(candidate MATCHES "/\\*[^/]*$" AND NOT candidate MATCHES "\\*/[^*]*$")
      set(comment TRUE)
    elseif(candidate MATCHES "\\*/")
      set(comment FALSE)
    endif()
  endforeach()
endfunction()

# _cudaops_check_namespaces(<command(target)> <source>...)
#
# torch takes one TORCH_LIBRARY of a namespace: a second one throws while the library is loaded, which ends the process,
# in the stable ABI without a word.
function(_cudaops_check_namespaces command)
  set(block "[ \t]*(STABLE_)?TORCH_LIBRARY[ \t]*\\([ \t]*([A-Za-z0-9_]+)[ \t]*,[ \t]*([A-Za-z0-9_]+)")
  set(sources ${ARGN})
  list(REMOVE_DUPLICATES sources)
  foreach(source IN LISTS sources)
    _cudaops_certain_line("${source}" "${block}" line path)
    if(NOT line MATCHES "^${block}")
      continue()
    endif()
    set(prefix "${CMAKE_MATCH_1}")
    set(name "${CMAKE_MATCH_2}")
    set(variable "${CMAKE_MATCH_3}")
    if(DEFINED _cudaops_block_of_${name})
      set(first "${_cudaops_block_of_${name}}")
      _cudaops_stop(
        "${command}: two sources define the namespace ${name} as a whole."
        FACTS "found   TORCH_LIBRARY(${name}, ...) in ${first}" "        and in ${path}"
              "wanted  one such block, or fragments: torch ends the process that loads a second one"
        FIX "${prefix}TORCH_LIBRARY_FRAGMENT(${name}, ${variable})   (in both)"
      )
    endif()
    set(_cudaops_block_of_${name} "${path}")
  endforeach()
endfunction()

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
    _cudaops_certain_line("${source}" "${include}" line path)
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

# _cudaops_check_boxed_types(<command(target)> <source>...)
#
# TORCH_BOX() copies the bits of an argument into whatever type the function has: a float reads the lower half of a
# double, which is 0 for most values that are written in a program, and nothing says so.
function(_cudaops_check_boxed_types command)
  set(blank "[ \t\r\n]*")
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE path)
    if(source MATCHES "\\$<" OR NOT EXISTS "${path}")
      continue()
    endif()
    file(STRINGS "${path}" boxed REGEX "TORCH_BOX[ \t]*\\(" LIMIT_COUNT 1)
    if(boxed STREQUAL "")
      continue()
    endif()
    file(READ "${path}" text)
    # Of strings and comments nothing counts; brackets and semicolons would make other elements of what is a list below.
    string(REGEX REPLACE "\"([^\"\\\n]|\\\\.)*\"|//[^\n]*|/\\*([^*]|\\*+[^*/])*\\*+/|[][]" " " text "${text}")
    string(REPLACE ";" " " text "${text}")
    string(REGEX MATCHALL "TORCH_BOX${blank}\\(${blank}&?[A-Za-z0-9_: \t\r\n]+" boxed "${text}")
    list(TRANSFORM boxed REPLACE ".*[^A-Za-z0-9_]([A-Za-z0-9_]+)${blank}$" "\\1")
    list(REMOVE_DUPLICATES boxed)
    foreach(name IN LISTS boxed)
      string(REGEX MATCHALL "[A-Za-z0-9_>]+[ &\t\r\n]+([A-Za-z0-9_]+::)*${name}${blank}\\([^()]*\\)" heads "${text}")
      # These are calls.
      list(FILTER heads EXCLUDE REGEX "^(return|else|throw)[^A-Za-z0-9_]")
      set(wrong "")
      foreach(head IN LISTS heads)
        if(NOT "(${head}" MATCHES "[^A-Za-z0-9_]Tensor[^A-Za-z0-9_]")
          continue()
        elseif("(${head}" MATCHES "[^A-Za-z0-9_]float[^A-Za-z0-9_]")
          string(REGEX REPLACE "[ \t\r\n]+" " " wrong "${head}")
        else()
          # The boxed one is right; others of the same name may have other types.
          set(wrong "")
          break()
        endif()
      endforeach()
      if(NOT wrong STREQUAL "")
        _cudaops_stop(
          "${command}: what a schema calls float is double in C++."
          FACTS "found   ${wrong}, of TORCH_BOX(&${name}) in ${path}"
                "rule    torch copies 64 bits, of which a C++ float sees the wrong half: the values are wrong, without an error"
          FIX "double   (in the head of ${name}())"
        )
      endif()
    endforeach()
  endforeach()
endfunction()
