# SPDX-License-Identifier: Apache-2.0
# The end of the configure step, when all targets are known.

_cudaops_use(base/custom_targets base/hooks base/paths base/state)

# _cudaops_at_end(): the last announcements, once, at the end of the top-level directory.
function(_cudaops_at_end)
  _cudaops_state_get(END_DEFERRED deferred)
  if(NOT deferred)
    _cudaops_state_set(END_DEFERRED TRUE)
    _cudaops_top_directories(source build)
    cmake_language(
      EVAL CODE "cmake_language(DEFER DIRECTORY [==[${source}]==] CALL _cudaops_end_last [==[${source}]==])"
    )
  endif()
endfunction()

# Deferred calls run in the order in which they were made: what the ops of this directory have put off until its end
# comes first.
function(_cudaops_end_last source)
  cmake_language(EVAL CODE "cmake_language(DEFER DIRECTORY [==[${source}]==] CALL _cudaops_end)")
endfunction()

function(_cudaops_end)
  _cudaops_custom_targets_refused(refused)
  _cudaops_state_set(TARGETS_REFUSED "${refused}")
  _cudaops_announce(targets_known)
  _cudaops_announce(report_members)
  _cudaops_announce(report)
  _cudaops_announce(configured)
endfunction()
