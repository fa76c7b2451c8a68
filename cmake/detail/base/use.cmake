# SPDX-License-Identifier: Apache-2.0
# How the modules name each other. include() reads and parses a file before its include_guard() can end it, and a fifth
# of a configure step went into files that were there already; hence `if(NOT COMMAND _cudaops_use)` round the include of
# this one, but in the files that a project begins with: two copies of the package are not to be mixed. What few projects
# need is used by the function that needs it, not at the head of the file.
#
# The modules in detail/ and accelerate/ are included by _cudaops_use() alone. They need no include_guard(), and their
# policies are those of this file: a function runs, and includes, with the policies of where it is defined.

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)
# An empty value of a keyword is a value.
if(POLICY CMP0174)
  cmake_policy(SET CMP0174 NEW)
endif()

# _cudaops_use(<module>...)
#
# Includes modules, each once in a build tree. <layer>/<name> is detail/<layer>/<name>.cmake; accelerate/<name> and a bare
# <name>, a public module, lie beside detail. A module sets no variable at file scope that its functions read, so it does
# not matter who includes it.
function(_cudaops_use)
  get_property(used GLOBAL PROPERTY "_CUDAOPS_USED ${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
  list(REMOVE_ITEM ARGV ${used})
  foreach(module IN LISTS ARGV)
    # What was included meanwhile may have included it.
    get_property(used GLOBAL PROPERTY "_CUDAOPS_USED ${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
    if(NOT module IN_LIST used)
      set_property(GLOBAL APPEND PROPERTY "_CUDAOPS_USED ${CMAKE_CURRENT_FUNCTION_LIST_DIR}" ${module})
      if(module MATCHES "/" AND NOT module MATCHES "^accelerate/")
        include("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../${module}.cmake")
      else()
        include("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../${module}.cmake")
      endif()
    endif()
  endforeach()
endfunction()

# _cudaops_modules_used(<out> <regex>): the files of the modules in use that match.
function(_cudaops_modules_used out regex)
  get_property(modules GLOBAL PROPERTY "_CUDAOPS_USED ${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
  list(FILTER modules INCLUDE REGEX "${regex}")
  cmake_path(SET detail NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../")
  list(TRANSFORM modules PREPEND "${detail}")
  list(TRANSFORM modules APPEND ".cmake")
  set(${out} "${modules}" PARENT_SCOPE)
endfunction()
