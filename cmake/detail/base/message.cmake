# SPDX-License-Identifier: Apache-2.0
# Every text that a user reads goes through these functions, so that all have one form:
# the rule in one sentence, indented facts, then "Fix:" and lines to paste.

_cudaops_use(base/hooks base/state)

# _cudaops_compose(<out-var> <count>)
#
# The text that <head> and the <count> arguments of the calling function make. message() re-wraps unindented lines, and
# a command to paste must stay whole: all but the head is indented. A macro, because only the caller's own ARGV<n> holds
# a user's text with a lone bracket as it is: in a list it would join the next line.
macro(_cudaops_compose out count)
  set(${out} "${head}")
  set(lead "  ")
  foreach(i RANGE 1 ${count})
    set(line "")
    if(i LESS ${count})
      set(line "${ARGV${i}}")
    endif()
    if(line STREQUAL "FACTS")
      set(lead "  ")
    elseif(line STREQUAL "FIX")
      set(lead " Fix: ")
    elseif(NOT line STREQUAL "")
      string(APPEND ${out} "\n${lead}${line}")
      string(REPLACE " Fix: " "      " lead "${lead}")
    endif()
  endforeach()
endmacro()

# _cudaops_stop(<head> [FACTS <line>...] [FIX <line>...])
#
# Ends the configure step. Deferred calls don't run after a fatal error: what is left to do is done by who listens for the stop.
function(_cudaops_stop head)
  _cudaops_compose(text ${ARGC})
  if(NOT CMAKE_SCRIPT_MODE_FILE)
    _cudaops_state_set(STOP_TEXT "${text}")
    _cudaops_announce(stop)
  endif()
  message(FATAL_ERROR "${text}")
endfunction()

# _cudaops_warn(<head> [FACTS <line>...] [FIX <line>...])
function(_cudaops_warn head)
  _cudaops_compose(text ${ARGC})
  _cudaops_state_get(REPLAY_RECORDING sections)
  foreach(section IN LISTS sections)
    # Nothing that is warned of is taken from what was kept.
    _cudaops_state_set("REPLAY_WARNED ${section}" TRUE)
  endforeach()
  message(WARNING "${text}")
endfunction()

# _cudaops_status(<text>)
#
# A decision the user should know of; silent while a find module runs with QUIET.
function(_cudaops_status text)
  # It is said again where what is found now is taken from what was kept (base/replay).
  _cudaops_state_get(REPLAY_RECORDING sections)
  foreach(section IN LISTS sections)
    _cudaops_state_get("REPLAY_SAID ${section}" number)
    math(EXPR number "0${number} + 1")
    _cudaops_state_set("REPLAY_SAID ${section}" ${number})
    _cudaops_state_set("REPLAY_SAID ${section} ${number}" "${text}")
  endforeach()
  _cudaops_state_get(QUIET quiet)
  if(NOT quiet)
    message(STATUS "${text}")
  endif()
endfunction()

# _cudaops_verbose(<text>)
function(_cudaops_verbose text)
  message(VERBOSE "${text}")
endfunction()
