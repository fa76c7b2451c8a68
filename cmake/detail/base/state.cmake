# SPDX-License-Identifier: Apache-2.0
# The state of a build tree: GLOBAL properties, named in this file alone. The keys of a record begin with its name. A
# misspelt key would read as empty: a test finds keys that are read and never written.
#
# request   VERSION_POLICY COMPATIBLE_VERSIONS ARCHITECTURES_REQUESTED _SOURCE MATCH_*: what was asked for, and where
# torch     TORCH_* PYTHON_*: search/torches; what it was built for: facts/library
# toolkit   TOOLKIT_*, ROCM_*: match/choose, of the candidates "CANDIDATE <i> <FIELD>" of search/search
# host      HOST_COMPILER*: match/decide. GPUS: facts/gpus
# result    VERDICT BACKEND REASON REASON_CODE REASON_FIX ARCHITECTURES; "LIBRARY* <name>": match/library_search
# ops       OPS KERNELS SHARDS "PACKAGE <path>": the commands, in the order of the calls
# Others are of one module, whose name they begin with: CACHE_* JOBS_* LAUNCH* HIPIFY_* REPLAY* REPORT_* SEED_STORE
# LINK_STUBS PRECOMPILED. *_DEFERRED *_SAID *_NOTED: what is done or said once.
function(_cudaops_state_set key value)
  set_property(GLOBAL PROPERTY _CUDAOPS_${key} "${value}")
endfunction()

function(_cudaops_state_append key value)
  set_property(GLOBAL APPEND PROPERTY _CUDAOPS_${key} "${value}")
endfunction()

# A macro, as is _cudaops_target_get: read hundreds of times in a configure step, and a function's scope costs five times
# what the reading does. Keys and names of variables hold nothing that a macro would evaluate.
macro(_cudaops_state_get key out)
  get_property(${out} GLOBAL PROPERTY "_CUDAOPS_${key}")
  # One that isn't set would leave the variable undefined.
  set(${out} "${${out}}")
endmacro()

# _cudaops_state_read(<key>...): into variables of the same names.
macro(_cudaops_state_read)
  foreach(_cudaops_key IN ITEMS ${ARGN})
    get_property(${_cudaops_key} GLOBAL PROPERTY "_CUDAOPS_${_cudaops_key}")
    set(${_cudaops_key} "${${_cudaops_key}}")
  endforeach()
endmacro()

# _cudaops_state_get_of(<key> <path> <out>): the key "<key> <path>", of any path.
function(_cudaops_state_get_of key path out)
  get_property(value GLOBAL PROPERTY "_CUDAOPS_${key} ${path}")
  set(${out} "${value}" PARENT_SCOPE)
endfunction()

# Facts of a target of CudaOps, as target properties:
# STATE REASON_CODE REASON ABI TORCH_TARGET ARCHITECTURES KIND INSTALL PYTHON_MODULE GPU PROJECT THREADS HELD
# LINK_SETTINGS HELD_SYMBOL IMPORT_ROOTS PACKAGE* RECIPE_* LAUNCH_<LANG>*
# and of an imported one that can't be linked: PROBLEM PROBLEM_FACTS PROBLEM_FIX
function(_cudaops_target_set target key value)
  set_property(TARGET ${target} PROPERTY _CUDAOPS_${key} "${value}")
endfunction()

macro(_cudaops_target_get target key out)
  get_property(${out} TARGET "${target}" PROPERTY "_CUDAOPS_${key}")
  set(${out} "${${out}}")
endmacro()

# _cudaops_target_read(<target> <key>...): into variables of the same names.
macro(_cudaops_target_read target)
  foreach(_cudaops_key IN ITEMS ${ARGN})
    _cudaops_target_get("${target}" ${_cudaops_key} ${_cudaops_key})
  endforeach()
endmacro()
