# SPDX-License-Identifier: Apache-2.0
# The decisions of FindCudaTorchMatch for AMD: from the facts of torch and ROCm installations to the backend HIP, with a
# reason where it can't be had.

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

if(NOT COMMAND _cudaops_use)
  include("${CMAKE_CURRENT_LIST_DIR}/../base/use.cmake")
endif()
_cudaops_use(arch/hip base/message base/state facts/rocm match/hip_language match/match match/verdict search/rocms)

# _cudaops_match_rocm(<policy> <compatible-versions> <required> <out-usable>)
#
# Chooses the ROCm, gives the verdict on it and torch, and tries its compiler. A torch that isn't ROCm's is no obstacle
# where HIP was asked for: kernels need no torch, and stable ops are built against its headers. Where HIP is required the
# caller ends the configure with the reason, and no warning says it before.
function(_cudaops_match_rocm policy compatible required out_usable)
  set(${out_usable} FALSE PARENT_SCOPE)
  _cudaops_state_get(TORCH_KIND torch_kind)
  _cudaops_state_get(TORCH_VERSION torch)
  _cudaops_state_get(TORCH_HIP torch_hip)
  _cudaops_state_get(TORCH_SOURCE torch_source)
  set(
    about_torch
    TORCH
    "${torch}"
    TORCH_HIP
    "${torch_hip}"
    TORCH_SOURCE
    "${torch_source}"
    POLICY
    "${policy}"
  )

  _cudaops_rocm_candidates(places sources kinds)
  set(count 0)
  set(seen "")
  set(best "")
  set(best_score -1)
  set(given FALSE)
  foreach(place source kind IN ZIP_LISTS places sources kinds)
    _cudaops_rocm_describe(rocm "${place}")
    file(REAL_PATH "${rocm_ROOT}" real_root)
    if(kind STREQUAL "explicit")
      # A compiler that was named is that one, whatever else its ROCm holds.
      string(APPEND real_root "|${rocm_COMPILER}")
    endif()
    if(real_root IN_LIST seen)
      continue()
    endif()
    list(APPEND seen "${real_root}")
    foreach(
      field
      IN
      ITEMS ROOT VERSION COMPILER COMPILER_VERSION HIP_LANG_DIR DEVICE_LIB_DIR RUNTIME PROBLEM FIX
    )
      set(c${count}_${field} "${rocm_${field}}")
    endforeach()
    set(c${count}_SOURCE "${source}")
    set(c${count}_KIND "${kind}")
    set(c${count}_VERDICT "")
    set(score 0)
    if(torch_kind STREQUAL "HIP")
      _cudaops_verdict_rocm(judged ROCM "${rocm_VERSION}" ${about_torch} COMPATIBLE_VERSIONS "${compatible}")
      set(c${count}_VERDICT "${judged_VERDICT}")
      set(score ${judged_RANK})
      if(judged_FITS)
        math(EXPR score "${score} + 20")
      endif()
    endif()
    if(rocm_PROBLEM STREQUAL "")
      math(EXPR score "${score} + 10")
    endif()
    # The first explicit one is taken whatever it is.
    if(kind STREQUAL "explicit" AND NOT given)
      set(given TRUE)
      set(best ${count})
    elseif(NOT given AND score GREATER best_score)
      set(best ${count})
      set(best_score ${score})
    endif()
    math(EXPR count "${count} + 1")
  endforeach()

  set(others "")
  set(version "")
  set(rocm_source "")
  if(count GREATER 0)
    math(EXPR last "${count} - 1")
    foreach(i RANGE ${last})
      set(word "${c${i}_VERDICT}")
      if(c${i}_PROBLEM)
        set(word "broken: ${c${i}_PROBLEM}")
      endif()
      # The report's rows.
      _cudaops_state_append(
        CANDIDATES
        "${c${i}_COMPILER}|${c${i}_VERSION}|${c${i}_SOURCE}|${c${i}_VERDICT}|${c${i}_PROBLEM}"
      )
      if(NOT i STREQUAL best)
        list(APPEND others "${c${i}_VERSION}|${word}|${c${i}_ROOT} (${c${i}_SOURCE})")
        if(c${i}_KIND MATCHES "^(explicit|hint)$")
          _cudaops_status(
            "CudaTorchMatch: ${c${i}_SOURCE} names ${c${i}_ROOT} (ROCm ${c${i}_VERSION}); ${c${best}_ROOT} (${c${best}_SOURCE}) is used instead"
          )
        endif()
      endif()
    endforeach()
    set(version "${c${best}_VERSION}")
    set(rocm_source "${c${best}_ROOT} (${c${best}_SOURCE})")
    foreach(
      field
      IN
      ITEMS ROOT VERSION COMPILER COMPILER_VERSION HIP_LANG_DIR DEVICE_LIB_DIR RUNTIME SOURCE
    )
      _cudaops_state_set(ROCM_${field} "${c${best}_${field}}")
    endforeach()
  endif()

  set(final_ACTION PASS)
  set(final_REASON "")
  if(torch_kind STREQUAL "HIP")
    _cudaops_verdict_rocm(
      final
      ROCM "${version}"
      ROCM_SOURCE "${rocm_source}"
      ${about_torch}
      COMPATIBLE_VERSIONS "${compatible}"
      CANDIDATES ${others}
    )
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
  elseif(c${best}_PROBLEM)
    set(fix "${c${best}_FIX}" "or -DROCm_ROOT=<another ROCm>")
    _cudaops_match_off(BROKEN_ROCM "the ROCm at ${c${best}_ROOT} is broken: ${c${best}_PROBLEM}" ${fix})
    if(given)
      _cudaops_stop(
        "find_package(CudaTorchMatch): the ROCm that was asked for is broken."
        FACTS "found   ${rocm_source}" "wrong   ${c${best}_PROBLEM}"
        FIX ${fix}
      )
    endif()
    set(facts "found   ${rocm_source}, ROCm ${version}" "wrong   ${c${best}_PROBLEM}")
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

  _cudaops_hip_arch_match(problem)
  if(problem)
    _cudaops_match_off(NO_ARCHITECTURE "${problem}" "-DCMAKE_HIP_ARCHITECTURES=gfx90a, or the like")
    return()
  endif()
  _cudaops_state_get(ARCHITECTURES archs)
  list(GET archs 0 arch)
  _cudaops_hip_trial("${arch}" problem)
  if(problem)
    set(fix "mend this ROCm, or -DROCm_ROOT=<another ROCm>")
    _cudaops_match_off(LANGUAGE_FAILED "the HIP compiler of ${c${best}_ROOT} compiles nothing here: ${problem}" ${fix})
    if(NOT required)
      _cudaops_state_get(ROCM_COMPILER compiler)
      _cudaops_warn(
        "find_package(CudaTorchMatch): HIP is off, its compiler can't compile one kernel."
        FACTS "compiler  ${compiler}" "for       ${arch}" "error     ${problem}"
        FIX ${fix}
      )
    endif()
    return()
  endif()
  set(${out_usable} TRUE PARENT_SCOPE)
endfunction()
