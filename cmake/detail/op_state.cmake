# SPDX-License-Identifier: Apache-2.0
# What becomes of an op or of kernels: BUILT, CPU_ONLY or NOT_BUILT, and why.

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)
# An empty value of a keyword is a value.
if(POLICY CMP0174)
  cmake_policy(SET CMP0174 NEW)
endif()

include("${CMAKE_CURRENT_LIST_DIR}/arch_select.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/match.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/message.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/state.cmake")

# _cudaops_op_state(<prefix> COMMAND <command(target)> [NEEDS_TORCH] [CUDA AUTO|REQUIRED|OFF]
#   HOST <source>... DEVICE <source>... [ARCHITECTURES <arch>...])
#
#   <prefix>_STATE _REASON_CODE _REASON
#   <prefix>_CUDA           whether the CUDA part is built
#   <prefix>_ARCHITECTURES  what for; empty without device code
# HOST is what is built without CUDA. DEVICE is everything that needs it, .cpp files included.
function(_cudaops_op_state prefix)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NEEDS_TORCH" "COMMAND;CUDA" "HOST;DEVICE;ARCHITECTURES")
  set(host "${arg_HOST}")
  list(FILTER host EXCLUDE REGEX "\\.(h|hpp|hh|hxx|cuh|inl|inc)$")
  set(state BUILT)
  set(code "")
  set(reason "")
  set(cuda FALSE)
  set(archs "")

  _cudaops_state_get(BACKEND backend)
  _cudaops_state_get(TORCH_VERSION torch)
  set(for_cuda "${arg_DEVICE}")
  list(FILTER for_cuda EXCLUDE REGEX "\\.[hH][iI][pP]$")
  if(NOT "${arg_DEVICE}" STREQUAL "")
    if("${arg_CUDA}" STREQUAL "OFF")
      set(code REQUESTED_OFF)
      set(reason "the op says CUDA OFF")
    elseif(NOT backend STREQUAL "CUDA")
      _cudaops_state_get(REASON_CODE code)
      _cudaops_state_get(REASON reason)
      if(code STREQUAL "NO_TORCH")
        # With a toolkit CUDA would be on: kernels need no torch.
        set(code NO_TOOLKIT)
        set(reason "no CUDA toolkit was found")
      endif()
    elseif(for_cuda STREQUAL "")
      set(code NO_HIP_COMPILER)
      set(reason "its device code is HIP, and this torch is built with CUDA")
    else()
      set(cuda TRUE)
      cudaops_resolve_architectures(archs ARCHITECTURES ${arg_ARCHITECTURES} UNSERVED unserved)
      if(archs STREQUAL "")
        set(cuda FALSE)
        set(code NO_ARCHITECTURE)
        list(JOIN arg_ARCHITECTURES " " supported)
        list(JOIN unserved " " wanted)
        _cudaops_state_get(ARCHITECTURES_SOURCE source)
        set(reason "the code supports ${supported}; requested is ${wanted} (${source})")
      elseif(unserved)
        list(JOIN arg_ARCHITECTURES " " supported)
        list(JOIN unserved " " wanted)
        _cudaops_status("${arg_COMMAND}: ${wanted} is not served (the code supports ${supported})")
      endif()
    endif()
    if(NOT cuda)
      set(state CPU_ONLY)
    endif()
  endif()
  if(arg_NEEDS_TORCH AND torch STREQUAL "")
    set(state NOT_BUILT)
    set(code NO_TORCH)
    set(reason "no torch was found")
    set(cuda FALSE)
    set(archs "")
  elseif(NOT cuda AND host STREQUAL "" AND NOT "${arg_DEVICE}" STREQUAL "")
    set(state NOT_BUILT)
  endif()

  if("${arg_CUDA}" STREQUAL "REQUIRED" AND NOT state STREQUAL "BUILT")
    _cudaops_match_fix("${code}" fix)
    if(NOT code STREQUAL "NO_TORCH")
      list(APPEND fix "or leave CUDA REQUIRED out: the op is then built for the CPU where it has SOURCES")
    endif()
    _cudaops_stop(
      "${arg_COMMAND}: CUDA REQUIRED, and CUDA can't be had."
      FACTS "found   ${code}: ${reason}"
      FIX ${fix}
    )
  endif()
  set(${prefix}_STATE ${state} PARENT_SCOPE)
  set(${prefix}_REASON_CODE "${code}" PARENT_SCOPE)
  set(${prefix}_REASON "${reason}" PARENT_SCOPE)
  set(${prefix}_CUDA ${cuda} PARENT_SCOPE)
  set(${prefix}_ARCHITECTURES "${archs}" PARENT_SCOPE)
endfunction()
