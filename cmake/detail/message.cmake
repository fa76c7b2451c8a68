# SPDX-License-Identifier: Apache-2.0
# Every text that a user reads goes through these functions, so that all have one form:
# the rule in one sentence, indented facts, then "Fix:" and lines to paste.

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)
# An empty value of a keyword is a value.
if(POLICY CMP0174)
  cmake_policy(SET CMP0174 NEW)
endif()

if(NOT COMMAND _cudaops_use)
  include("${CMAKE_CURRENT_LIST_DIR}/use.cmake")
endif()
_cudaops_use(state)

# _cudaops_compose(<out-var> <head> [FACTS <line>...] [FIX <line>...])
#
# message() re-wraps unindented lines, and a command to paste must stay whole: all but the head is indented.
function(_cudaops_compose out head)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "FACTS;FIX")
  set(text "${head}")
  foreach(line IN LISTS arg_FACTS)
    if(NOT line STREQUAL "")
      string(APPEND text "\n  ${line}")
    endif()
  endforeach()
  set(lead " Fix: ")
  foreach(line IN LISTS arg_FIX)
    if(NOT line STREQUAL "")
      string(APPEND text "\n${lead}${line}")
      set(lead "      ")
    endif()
  endforeach()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# _cudaops_stop(<head> [FACTS <line>...] [FIX <line>...])
#
# Ends the configure step. Deferred calls don't run after a fatal error, so the report is written first.
function(_cudaops_stop head)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FACTS;FIX")
  _cudaops_compose(text "${head}" FACTS ${arg_FACTS} FIX ${arg_FIX})
  if(COMMAND _cudaops_report_write AND NOT CMAKE_SCRIPT_MODE_FILE)
    _cudaops_report_write(ERROR "${text}")
  endif()
  message(FATAL_ERROR "${text}")
endfunction()

# _cudaops_warn(<head> [FACTS <line>...] [FIX <line>...])
function(_cudaops_warn head)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FACTS;FIX")
  _cudaops_compose(text "${head}" FACTS ${arg_FACTS} FIX ${arg_FIX})
  message(WARNING "${text}")
endfunction()

# _cudaops_status(<text>)
#
# A decision the user should know of; silent while a find module runs with QUIET.
function(_cudaops_status text)
  _cudaops_state_get(QUIET quiet)
  if(NOT quiet)
    message(STATUS "${text}")
  endif()
endfunction()

# _cudaops_verbose(<text>)
function(_cudaops_verbose text)
  message(VERBOSE "${text}")
endfunction()
