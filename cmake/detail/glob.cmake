# SPDX-License-Identifier: Apache-2.0
# Directories whose names hold what a pattern of file(GLOB) is made of.

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

# _cudaops_glob_in(<out> <directory>): the directory as file(GLOB) must be given it, so that a*b and [x] mean themselves.
function(_cudaops_glob_in out directory)
  string(REGEX REPLACE "([[*?])" "[\\1]" directory "${directory}")
  set(${out} "${directory}" PARENT_SCOPE)
endfunction()
