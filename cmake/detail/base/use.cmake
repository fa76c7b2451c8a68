# SPDX-License-Identifier: Apache-2.0
# How the modules name each other. include() reads and parses a file before its include_guard() can end it, and a fifth
# of a configure step went into files that were there already; hence `if(NOT COMMAND _cudaops_use)` round the include of
# this one, but in the files that a project begins with: two copies of the package are not to be mixed. What few projects
# need is used by the function that needs it, not at the head of the file.

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

# _cudaops_use(<module>...)
#
# Includes modules, each once in a build tree. <layer>/<name> is detail/<layer>/<name>.cmake; accelerate/<name> and a bare
# <name>, a public module, lie beside detail. A module sets no variable at file scope that its functions read, so it does
# not matter who includes it.
function(_cudaops_use)
  foreach(module IN LISTS ARGV)
    get_property(used GLOBAL PROPERTY "_CUDAOPS_USED ${CMAKE_CURRENT_FUNCTION_LIST_DIR} ${module}")
    if(NOT used)
      set_property(GLOBAL PROPERTY "_CUDAOPS_USED ${CMAKE_CURRENT_FUNCTION_LIST_DIR} ${module}" TRUE)
      set(folder "")
      if(module MATCHES "/" AND NOT module MATCHES "^accelerate/")
        set(folder "detail/")
      endif()
      cmake_path(SET file NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../${folder}${module}.cmake")
      include("${file}")
    endif()
  endforeach()
endfunction()
