# SPDX-License-Identifier: Apache-2.0
# A project that uses the package may be a part of another: only this file may ask for the top-level directories.
#   cmake -Drepo=<checkout> -P top_directories.cmake

cmake_minimum_required(VERSION 3.25)

file(GLOB_RECURSE files RELATIVE "${repo}" "${repo}/cmake/*.cmake")
list(LENGTH files number)
if(number LESS 50)
  message(FATAL_ERROR "only ${number} files in ${repo}/cmake: the check would prove nothing")
endif()
list(REMOVE_ITEM files cmake/detail/base/paths.cmake)
set(found "")
foreach(file IN LISTS files)
  file(STRINGS "${repo}/${file}" lines REGEX "CMAKE_(SOURCE|BINARY)_DIR")
  foreach(line IN LISTS lines)
    string(APPEND found "\n  ${file}: ${line}")
  endforeach()
endforeach()
if(found)
  message(FATAL_ERROR "CMAKE_SOURCE_DIR and CMAKE_BINARY_DIR belong to cmake/detail/base/paths.cmake:${found}")
endif()
