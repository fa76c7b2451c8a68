# SPDX-License-Identifier: Apache-2.0
# Texts of the per-user store: several configures may write at once, and the store may be one that can't be written.

_cudaops_use(base/message base/options base/paths base/probe)

# _cudaops_check_store(): a store that was asked for and can't be there would be missing in silence.
function(_cudaops_check_store)
  _cudaops_option(CUDAOPS_STORE asked)
  _cudaops_store(store)
  if(asked STREQUAL "" OR IS_DIRECTORY "${store}")
    return()
  endif()
  _cudaops_run(made COMMAND "${CMAKE_COMMAND}" -E make_directory "${store}")
  if(NOT IS_DIRECTORY "${store}")
    _cudaops_warn(
      "CUDAOPS_STORE: there can't be a directory here, so nothing is kept."
      FACTS "found   ${asked}"
      FIX "-DCUDAOPS_STORE=<directory that can be written>"
    )
  endif()
endfunction()

# _cudaops_store_text(<dir> <name> <text> <out-problem>)
#
# Written beside and renamed: another configure sees all of it or nothing. <out-problem>: why it isn't kept, or empty.
function(_cudaops_store_text dir name text out_problem)
  set(${out_problem} "" PARENT_SCOPE)
  string(SHA1 place "${CMAKE_CURRENT_BINARY_DIR}")
  set(ours "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/cudaops/${name}")
  set(beside "${dir}/.${name}.${place}")
  file(WRITE "${ours}" "${text}")
  if(NOT IS_DIRECTORY "${dir}")
    # file(MAKE_DIRECTORY) would end the configure step where it can't.
    _cudaops_run(made COMMAND "${CMAKE_COMMAND}" -E make_directory "${dir}")
  endif()
  file(COPY_FILE "${ours}" "${beside}" RESULT problem)
  if(problem STREQUAL "0")
    file(RENAME "${beside}" "${dir}/${name}" RESULT problem)
  endif()
  file(REMOVE "${ours}")
  if(problem STREQUAL "0")
    _cudaops_store_prune("${dir}")
  else()
    if(EXISTS "${beside}")
      file(REMOVE "${beside}")
    endif()
    set(${out_problem} "${dir} can't be written (${problem})" PARENT_SCOPE)
  endif()
endfunction()

# _cudaops_store_prune(<dir>): entries whose inputs never come back (a CMake in a directory of one build) don't pile up.
function(_cudaops_store_prune dir)
  _cudaops_glob_in(in "${dir}")
  file(GLOB entries LIST_DIRECTORIES FALSE "${in}/*")
  list(LENGTH entries number)
  if(number LESS 256)
    return()
  endif()
  set(dated "")
  foreach(entry IN LISTS entries)
    if(EXISTS "${entry}")
      file(TIMESTAMP "${entry}" time "%s" UTC)
      cmake_path(GET entry FILENAME name)
      list(APPEND dated "${time} ${name}")
    endif()
  endforeach()
  list(SORT dated COMPARE NATURAL)
  list(SUBLIST dated 0 128 dated)
  foreach(entry IN LISTS dated)
    string(REGEX REPLACE "^[^ ]* " "" name "${entry}")
    file(REMOVE "${dir}/${name}")
  endforeach()
endfunction()
