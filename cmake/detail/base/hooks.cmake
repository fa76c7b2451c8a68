# SPDX-License-Identifier: Apache-2.0
# How a lower layer is heard by those above it, and the core by accelerate/: it announces what happens, and calls whoever
# asked to be told. Nobody needs to listen.
#
#   package                        find_package(CudaOps) begins
#   stop                           the configure step is about to end with the error in STOP_TEXT of the state
#   detection_begin detection_end  around enable_language(), in the scope of the caller
#   target <target>                cudaops_target_defaults() has set this target up
#   cache <target>                 cudaops_target_cache()
#   cubins <target> <command>      CUDA_CUBINS of <command>, or cudaops_target_cubins()
#   trace <target> <mode>          cudaops_target_build_trace(): ON or PHASES
#   link <target>                  an op or a shared kernel library is about to get its link command
#   stable_op <target>             the end of the directory of an op with ABI STABLE
#   targets_known                  the end of the top directory; where it takes no custom target, TARGETS_REFUSED of the
#                                  state says why
#   report_members                 the report is about to be written: REPORT_MEMBERS and REPORT_LINE can be set
#   report                         writes it
#   configured                     the end of the configure step

_cudaops_use(base/state)

# _cudaops_on(<event> <command>): <command> is called with the arguments of each announcement of <event>.
function(_cudaops_on event command)
  _cudaops_state_append("HOOKS ${event}" "${command}")
endfunction()

# _cudaops_announce(<event> <argument>...)
#
# A macro, so that who listens can set variables in the scope of the caller, which the detection of compilers needs. The
# arguments are words, none of them empty: no text of a user's, which a macro would evaluate.
macro(_cudaops_announce event)
  _cudaops_state_get("HOOKS ${event}" _cudaops_hooks)
  foreach(_cudaops_hook IN LISTS _cudaops_hooks)
    cmake_language(CALL ${_cudaops_hook} ${ARGN})
  endforeach()
  unset(_cudaops_hooks)
  unset(_cudaops_hook)
endmacro()
