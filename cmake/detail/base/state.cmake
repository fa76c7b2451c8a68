# SPDX-License-Identifier: Apache-2.0
# What one build tree knows, as GLOBAL properties. This is the only file that names them. A misspelt key would read as
# empty and pass for "not there": a test looks for keys that are read and never written.

# Key                      written by           meaning
# QUIET                    FindCudaTorchMatch   the find_package call in progress said QUIET
# PACKAGE_DIR              base/package         the cmake/ directory in use; a second one in a build tree is an error
# MATCH_INPUTS             match/match          what the match was made for; a call with other inputs is an error
# VERSION_POLICY COMPATIBLE_VERSIONS            match/match          options that a verdict follows from
# REPLAY_* "REPLAY <section>"                    base/replay          facts of the configure step before: what they follow from
# VERDICT REASON_CODE REASON                    the verdict; why CUDA is off ("" where it is on)
# REASON_FIX                                    what to do about it, a line each
# BACKEND                                       CUDA, HIP or CPU
# TORCH_*  PYTHON_*        search/torches       facts of the torch and of the interpreter that runs it
# CANDIDATE_*  "CANDIDATE <i> <FIELD>"           search/search        what was found in which place; VERDICT by match/choose
# TOOLKIT_*  CANDIDATES    match/choose         facts of the chosen toolkit; one line a candidate
# ROCM_*                   match/choose         facts of the chosen ROCm; the options that its compiler needs
# HIPIFY_*                 hipify               the translator in use; the mirror trees and what is translated into them
# HOST_COMPILER*           match/languages      the compiler that nvcc calls
# ARCHITECTURES*           arch/request         canonical list; as requested; where the request came from
# LAUNCHER*                launch/launcher      the program that runs compiles, or why there is none; its name in the store
# LAUNCH_TARGETS           launch/launch        targets with steps
# ANSWERS_STAMP <path>     base/stamps          stamps of the programs that were asked
# "LIBRARY <name>" "LIBRARY_* <name>"  match/library_search  CUDA's libraries: where they are, or why they are missing
# TORCH_DEFINITIONS TORCH_ARCHS_*      match/torch_targets, facts/library   what torch was built with and for
# LIBRARY_PROBLEMS         match/interfaces     targets that can't be linked
# OPS KERNELS              the add commands     names in the order of the calls
# PACKAGE <path>           op/package           the op whose target copies the .py files of a package in the build tree
# SHARDS                   CudaOpsShard         where instantiations are dealt out to
# CACHE_*                  accelerate/cache     the compiler cache in use, or why there is none; what its launcher knows
# CACHE_STAT <path>        accelerate/cache     size, time and inode of a compiler's part
# JOBS_*                   accelerate/jobs      targets that are counted; jobs at a time, and why
# SEED_STORE               accelerate/seed      where compiler detections are kept
# LINK_STUBS               accelerate/link_stubs   what stable ops are linked against; none
# PRECOMPILED              accelerate/precompile   precompiled headers that were looked at
# *_DEFERRED *_SAID *_NOTED                     what is done or said once
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

# Facts of a target of ours, as target properties; `key` is in the same style as above:
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
