# SPDX-License-Identifier: Apache-2.0
# Directories: those that there is one of in a build tree, and names that hold what a pattern of file(GLOB) is made of.
# The only file that may use CMAKE_SOURCE_DIR and CMAKE_BINARY_DIR.

# _cudaops_glob_in(<out> <directory>): the directory as file(GLOB) must be given it, so that a*b and [x] mean themselves.
function(_cudaops_glob_in out directory)
  string(REGEX REPLACE "([[*?])" "[\\1]" directory "${directory}")
  set(${out} "${directory}" PARENT_SCOPE)
endfunction()

# _cudaops_top_directories(<out-source> <out-build>): for what there is one of in a build tree.
function(_cudaops_top_directories out_source out_build)
  set(${out_source} "${CMAKE_SOURCE_DIR}" PARENT_SCOPE)
  set(${out_build} "${CMAKE_BINARY_DIR}" PARENT_SCOPE)
endfunction()
