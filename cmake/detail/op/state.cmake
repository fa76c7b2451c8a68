# SPDX-License-Identifier: Apache-2.0
# What becomes of an op or of kernels: BUILT, CPU_ONLY or NOT_BUILT, and why.

_cudaops_use(arch/spell base/message base/state)

# _cudaops_op_state(<prefix> COMMAND <command(target)> [NEEDS_TORCH] [ABI <abi>] [CUDA AUTO|REQUIRED|OFF]
#   HOST <source>... DEVICE <source>... [ARCHITECTURES <arch>...])
#
#   <prefix>_STATE _REASON_CODE _REASON
#   <prefix>_GPU            CUDA or HIP where the device part is built, else empty
#   <prefix>_ARCHITECTURES  what for; empty without device code
# HOST is what is built without a GPU's toolkit. DEVICE is everything that needs one, .cpp files included; CUDA= says the
# same of HIP, which the same sources are built for.
function(_cudaops_op_state prefix)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NEEDS_TORCH" "COMMAND;ABI;CUDA" "HOST;DEVICE;ARCHITECTURES")
  set(host "${arg_HOST}")
  list(FILTER host EXCLUDE REGEX "\\.(h|hpp|hh|hxx|cuh|inl|inc)$")
  set(state BUILT)
  set(code "")
  set(reason "")
  set(gpu "")
  set(archs "")

  _cudaops_state_get(BACKEND backend)
  _cudaops_state_get(TORCH_VERSION torch)
  _cudaops_state_get(TORCH_KIND kind)
  set(for_cuda "${arg_DEVICE}")
  list(FILTER for_cuda EXCLUDE REGEX "\\.[hH][iI][pP]$")
  if(NOT "${arg_DEVICE}" STREQUAL "")
    if("${arg_CUDA}" STREQUAL "OFF")
      set(code REQUESTED_OFF)
      set(reason "the op says CUDA OFF")
    elseif(backend STREQUAL "CPU")
      _cudaops_state_get(REASON_CODE code)
      _cudaops_state_get(REASON reason)
      if(code STREQUAL "NO_TORCH")
        # With a toolkit it would be on: kernels need no torch.
        set(code NO_TOOLKIT)
        set(reason "no CUDA toolkit was found")
      endif()
    elseif(
      backend STREQUAL "HIP"
      AND arg_NEEDS_TORCH
      AND NOT kind STREQUAL "HIP"
      AND NOT "${arg_ABI}" STREQUAL "STABLE"
    )
      set(code ${kind}_TORCH)
      set(reason "ABI ${arg_ABI} for HIP needs a torch for ROCm, and torch ${torch} is none")
    elseif(for_cuda STREQUAL "" AND backend STREQUAL "CUDA")
      set(code NO_HIP_COMPILER)
      set(reason "its device code is HIP, and this torch is built with CUDA")
    else()
      set(gpu ${backend})
      if(gpu STREQUAL "CUDA" AND "${arg_ARCHITECTURES}" STREQUAL "")
        # The match has looked at them.
        _cudaops_state_get(ARCHITECTURES archs)
        _cudaops_state_get(ARCHITECTURES_VARIABLE variable)
        if(CMAKE_CUDA_ARCHITECTURES AND NOT CMAKE_CUDA_ARCHITECTURES STREQUAL variable)
          _cudaops_use(arch/check)
          _cudaops_arch_warn_of_change("${arg_COMMAND}")
        endif()
        set(unserved "")
      else()
        _cudaops_use(arch/serve)
        _cudaops_arch_serve(archs unserved CALLER "${arg_COMMAND}" ARCHITECTURES ${arg_ARCHITECTURES})
      endif()
      if(archs STREQUAL "")
        set(gpu "")
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
    if(NOT gpu)
      set(state CPU_ONLY)
    endif()
  endif()
  if(arg_NEEDS_TORCH AND torch STREQUAL "")
    set(state NOT_BUILT)
    set(code NO_TORCH)
    set(reason "no torch was found")
    set(gpu "")
    set(archs "")
  elseif(NOT gpu AND host STREQUAL "" AND NOT "${arg_DEVICE}" STREQUAL "")
    set(state NOT_BUILT)
  endif()

  if("${arg_CUDA}" STREQUAL "REQUIRED" AND NOT state STREQUAL "BUILT")
    _cudaops_use(match/explain)
    _cudaops_match_fix("${code}" fix)
    set(wanted CUDA)
    if(kind STREQUAL "HIP" OR backend STREQUAL "HIP")
      set(wanted HIP)
    endif()
    if(NOT code STREQUAL "NO_TORCH")
      list(APPEND fix "or leave CUDA REQUIRED out: the op is then built for the CPU where it has SOURCES")
    endif()
    _cudaops_stop(
      "${arg_COMMAND}: CUDA REQUIRED, and ${wanted} is not available."
      FACTS "found   ${code}: ${reason}"
      FIX ${fix}
    )
  endif()
  # Built, and still of no use to this torch.
  if(gpu STREQUAL "HIP" AND arg_NEEDS_TORCH AND state STREQUAL "BUILT" AND NOT kind STREQUAL "HIP")
    set(code ${kind}_TORCH)
    set(reason "built for HIP: torch ${torch}, which isn't built for ROCm, can't load it")
  endif()
  set(${prefix}_STATE ${state} PARENT_SCOPE)
  set(${prefix}_REASON_CODE "${code}" PARENT_SCOPE)
  set(${prefix}_REASON "${reason}" PARENT_SCOPE)
  set(${prefix}_GPU "${gpu}" PARENT_SCOPE)
  set(${prefix}_ARCHITECTURES "${archs}" PARENT_SCOPE)
endfunction()

# _cudaops_op_check_architectures(<command> <target>)
#
# Stops where CUDA_ARCHITECTURES is another one than <command> has set: what it has compiled names them at run time.
function(_cudaops_op_check_architectures command target)
  _cudaops_target_get(${target} ARCHITECTURES archs)
  _cudaops_state_get(BACKEND backend)
  if(archs STREQUAL "" OR NOT backend STREQUAL "CUDA")
    return()
  endif()
  _cudaops_arch_spell(spelled ${archs})
  get_target_property(found ${target} CUDA_ARCHITECTURES)
  if(found STREQUAL spelled)
    return()
  endif()
  string(REPLACE ";" " " found "${found}")
  list(JOIN archs " " archs)
  _cudaops_stop(
    "${command}(${target}): the property CUDA_ARCHITECTURES was changed after the call, whose own are named in the code and in the report."
    FACTS "found   ${found}" "built   ${archs}"
    FIX "${command}(${target} ... ARCHITECTURES ${found})   (where its code is for no other)"
        "or set(CMAKE_CUDA_ARCHITECTURES ${found})   (before find_package(CudaTorchMatch), for the whole build)"
  )
endfunction()
