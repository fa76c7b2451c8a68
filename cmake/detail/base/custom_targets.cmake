# SPDX-License-Identifier: Apache-2.0
# Whether a custom target or command can be made in this directory: some releases of CMake refuse a build directory whose
# path holds # or <, in which they build libraries and programs all the same.

_cudaops_use(base/probe)

# _cudaops_custom_targets_refused(<out>): the character for which it can't, or "". CMake and what it writes for are asked,
# and only where there is such a character.
function(_cudaops_custom_targets_refused out)
  set(${out} "" PARENT_SCOPE)
  string(REGEX MATCH "[#<>]" character "${CMAKE_CURRENT_BINARY_DIR}")
  if(character STREQUAL "")
    return()
  endif()
  set(trial "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/cudaops/custom_target")
  file(
    WRITE "${trial}/CMakeLists.txt"
    "cmake_minimum_required(VERSION 3.25)\nproject(trial LANGUAGES NONE)\nadd_custom_target(trial ALL COMMAND \"\${CMAKE_COMMAND}\" -E true VERBATIM)\n"
  )
  _cudaops_run(
    configure
    COMMAND
      "${CMAKE_COMMAND}" -S "${trial}" -B "${trial}/build" -G "${CMAKE_GENERATOR}"
      "-DCMAKE_MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM}"
  )
  set(build_EXIT "")
  if(configure_EXIT STREQUAL "0")
    _cudaops_run(build COMMAND "${CMAKE_COMMAND}" --build "${trial}/build")
  endif()
  file(REMOVE_RECURSE "${trial}")
  if(NOT build_EXIT STREQUAL "0")
    set(${out} "${character}" PARENT_SCOPE)
  endif()
endfunction()
