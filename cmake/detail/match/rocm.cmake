# SPDX-License-Identifier: Apache-2.0
# The decisions of FindCudaTorchMatch for AMD: from the facts of torch and ROCm installations to the backend HIP, with a
# reason where it is not available.

_cudaops_use(arch/request base/message base/state match/choose match/decide match/hip_language match/verdict)

# _cudaops_match_rocm(<required> <out-usable>)
#
# Chooses the ROCm, gives the verdict on it and torch, and tries its compiler. A torch that isn't ROCm's is no obstacle
# where HIP was asked for: kernels need no torch, and stable ops are built against its headers. Where HIP is required the
# caller ends the configure with the reason, and no warning says it before.
function(_cudaops_match_rocm required out_usable)
  set(${out_usable} FALSE PARENT_SCOPE)
  _cudaops_state_get(TORCH_KIND torch_kind)
  _cudaops_state_get(TORCH_VERSION torch)
  _cudaops_match_search(HIP)
  _cudaops_choose(HIP best given)
  _cudaops_choice_record(HIP "${best}" others any_whole)
  foreach(
    field
    IN
    ITEMS ROOT VERSION SOURCE COMPILER PROBLEM FIX
  )
    _cudaops_state_get(ROCM_${field} ${field})
  endforeach()
  set(place "${ROOT} (${SOURCE})")
  _cudaops_judge(HIP final "${VERSION}" "${place}" ${others})
  if(torch_kind STREQUAL "HIP")
    _cudaops_state_set(VERDICT "${final_VERDICT}")
  elseif(torch_kind STREQUAL "CUDA")
    _cudaops_state_set(VERDICT CUDA_TORCH)
  elseif(torch_kind STREQUAL "CPU")
    _cudaops_state_set(VERDICT CPU_TORCH)
  endif()

  if(best STREQUAL "")
    set(reason "no HIP compiler was found")
    if(torch_kind STREQUAL "HIP")
      set(reason "torch ${torch} is a ROCm build, and no HIP compiler was found")
    endif()
    _cudaops_match_off(
      NO_HIP_COMPILER
      "${reason}"
      "install ROCm (rocm-llvm, hip-dev, rocm-device-libs, on Debian hipcc)"
      "or -DROCm_ROOT=<dir>, or -DCMAKE_HIP_COMPILER=<clang++>"
    )
    return()
  elseif(final_ACTION STREQUAL "STOP")
    _cudaops_match_off(MISMATCH "${final_REASON}" ${final_FIX})
    _cudaops_stop("${final_HEAD}" FACTS ${final_FACTS} FIX ${final_FIX})
  elseif(NOT PROBLEM STREQUAL "")
    set(fix "${FIX}" "or -DROCm_ROOT=<another ROCm>")
    _cudaops_match_off(BROKEN_ROCM "the ROCm at ${ROOT} is broken: ${PROBLEM}" ${fix})
    if(given)
      _cudaops_stop(
        "find_package(CudaTorchMatch): the requested ROCm is broken."
        FACTS "found   ${place}" "wrong   ${PROBLEM}"
        FIX ${fix}
      )
    endif()
    set(facts "found   ${place}, ROCm ${VERSION}" "wrong   ${PROBLEM}")
    _cudaops_verdict_others(facts "others  " ${others})
    if(NOT required)
      _cudaops_warn("find_package(CudaTorchMatch): HIP is off, the ROCm found is broken." FACTS ${facts} FIX ${fix})
    endif()
    return()
  elseif(final_ACTION STREQUAL "WARN")
    _cudaops_warn("${final_HEAD}" FACTS ${final_FACTS} FIX ${final_FIX})
  elseif(final_REASON)
    _cudaops_status("CudaTorchMatch: ${final_REASON}")
  endif()

  _cudaops_arch_match(HIP problem)
  if(problem)
    _cudaops_match_off(NO_ARCHITECTURE "${problem}" "-DCMAKE_HIP_ARCHITECTURES=gfx90a, or the like")
    return()
  endif()
  _cudaops_state_get(ARCHITECTURES archs)
  list(GET archs 0 arch)
  _cudaops_hip_trial("${arch}" problem)
  if(problem)
    set(fix "repair this ROCm, or -DROCm_ROOT=<another ROCm>")
    _cudaops_match_off(LANGUAGE_FAILED "the HIP compiler of ${ROOT} compiles nothing here: ${problem}" ${fix})
    if(NOT required)
      _cudaops_warn(
        "find_package(CudaTorchMatch): HIP is off, its compiler can't compile one kernel."
        FACTS "compiler  ${COMPILER}" "for       ${arch}" "error     ${problem}"
        FIX ${fix}
      )
    endif()
    return()
  endif()
  set(${out_usable} TRUE PARENT_SCOPE)
endfunction()
