# SPDX-License-Identifier: Apache-2.0
# Which of the toolkits, or of the ROCm installations, is used, and the verdict on it and torch. Written once for both:
# search/backends says what differs.

_cudaops_use(base/message base/state match/verdict search/backends)

# _cudaops_judge(<gpu> <prefix> <version> <source> [<row of another candidate>...])
#
# The verdict (match/verdict) on torch and on a toolkit or ROCm of this version: <prefix>_VERDICT, _ACTION, _FITS, _RANK,
# _REASON, _HEAD, _FACTS, _FIX. There is none on a ROCm and a torch that isn't built for it.
function(_cudaops_judge gpu prefix version source)
  cmake_parse_arguments(PARSE_ARGV 4 arg "" "" "")
  _cudaops_state_read(TORCH_VERSION TORCH_KIND TORCH_CUDA TORCH_HIP TORCH_SOURCE VERSION_POLICY COMPATIBLE_VERSIONS)
  set(fields "VERDICT;ACTION;FITS;RANK;REASON;HEAD;FACTS;FIX")
  set(
    about
    TORCH
    "${TORCH_VERSION}"
    TORCH_HIP
    "${TORCH_HIP}"
    TORCH_SOURCE
    "${TORCH_SOURCE}"
    POLICY
    "${VERSION_POLICY}"
  )
  foreach(field IN LISTS fields)
    set(judged_${field} "")
  endforeach()
  if(gpu STREQUAL "CUDA")
    _cudaops_verdict(
      judged
      TOOLKIT "${version}"
      TOOLKIT_SOURCE "${source}"
      TORCH_CUDA "${TORCH_CUDA}"
      ${about}
      COMPATIBLE_VERSIONS "${COMPATIBLE_VERSIONS}"
      CANDIDATES ${arg_UNPARSED_ARGUMENTS}
    )
  elseif(TORCH_KIND STREQUAL "HIP")
    _cudaops_use(match/verdict_rocm)
    _cudaops_verdict_rocm(
      judged
      ROCM "${version}"
      ROCM_SOURCE "${source}"
      ${about}
      COMPATIBLE_VERSIONS "${COMPATIBLE_VERSIONS}"
      CANDIDATES ${arg_UNPARSED_ARGUMENTS}
    )
  else()
    set(judged_ACTION PASS)
    set(judged_FITS FALSE)
    set(judged_RANK 0)
  endif()
  foreach(field IN LISTS fields)
    set(${prefix}_${field} "${judged_${field}}" PARENT_SCOPE)
  endforeach()
endfunction()

# _cudaops_choose(<gpu> <out-best> <out-given>)
#
# The index of the candidate that is used, or empty; <out-given>: the user named it. Fills "CANDIDATE <i> VERDICT".
#
# An explicit choice wins; else one that fits before one that doesn't, whole before broken, the better verdict, and the
# order of the search: a broken toolkit that fits is worth mending, a whole one that doesn't is of no use.
function(_cudaops_choose gpu out_best out_given)
  set(best "")
  set(best_score -1)
  set(explicit "")
  _cudaops_state_get(CANDIDATE_COUNT count)
  if(count GREATER 0)
    math(EXPR last "${count} - 1")
    foreach(i RANGE ${last})
      foreach(
        field
        IN
        ITEMS VERSION ROOT SOURCE KIND PROBLEM
      )
        _cudaops_state_get("CANDIDATE ${i} ${field}" ${field})
      endforeach()
      _cudaops_judge(${gpu} judged "${VERSION}" "${ROOT} (${SOURCE})")
      _cudaops_state_set("CANDIDATE ${i} VERDICT" "${judged_VERDICT}")
      set(score 0)
      if(NOT VERSION STREQUAL "")
        set(score ${judged_RANK})
      endif()
      if(judged_FITS)
        math(EXPR score "${score} + 20")
      endif()
      if(PROBLEM STREQUAL "")
        math(EXPR score "${score} + 10")
      endif()
      if(KIND STREQUAL "explicit")
        list(APPEND explicit ${i})
      endif()
      if(score GREATER best_score)
        set(best ${i})
        set(best_score ${score})
      endif()
    endforeach()
  endif()
  set(${out_given} FALSE PARENT_SCOPE)
  if(NOT explicit STREQUAL "")
    list(GET explicit 0 best)
    set(${out_given} TRUE PARENT_SCOPE)
  endif()
  set(${out_best} "${best}" PARENT_SCOPE)
  # Two settings that name two toolkits contradict each other.
  list(LENGTH explicit number)
  if(gpu STREQUAL "CUDA" AND number GREATER 1)
    list(GET explicit 1 other)
    _cudaops_choose_contradiction(${best} ${other})
  endif()
endfunction()

function(_cudaops_choose_contradiction a b)
  foreach(i IN ITEMS a b)
    foreach(field IN ITEMS VERSION ROOT SOURCE)
      _cudaops_state_get("CANDIDATE ${${i}} ${field}" ${i}_${field})
    endforeach()
  endforeach()
  if(b_SOURCE MATCHES "^environment")
    _cudaops_status("CudaTorchMatch: ${a_SOURCE} names ${a_ROOT}; ${b_SOURCE} (${b_ROOT}) is passed over")
    return()
  endif()
  _cudaops_stop(
    "find_package(CudaTorchMatch): two settings name two CUDA toolkits."
    FACTS "${a_SOURCE}: ${a_ROOT} (CUDA ${a_VERSION})" "${b_SOURCE}: ${b_ROOT} (CUDA ${b_VERSION})"
    FIX "keep one of them   (cmake --fresh forgets a compiler of an earlier configure)"
  )
endfunction()

# _cudaops_choice_record(<gpu> <best> <out-others> <out-any-whole>)
#
# The chosen candidate's fields become the record of the toolkit or the ROCm, with the final verdict in it; the rows of the
# report; a line for each hint that isn't followed. <out-others>: rows of the others for the texts of a verdict.
function(_cudaops_choice_record gpu best out_others out_whole)
  _cudaops_backend(${gpu} backend)
  set(others "")
  set(rows "")
  set(${out_whole} FALSE PARENT_SCOPE)
  _cudaops_state_get(CANDIDATE_COUNT count)
  if(count GREATER 0)
    foreach(field IN LISTS backend_FIELDS ITEMS SOURCE)
      _cudaops_state_get("CANDIDATE ${best} ${field}" best_${field})
      _cudaops_state_set("${backend_KEY}_${field}" "${best_${field}}")
    endforeach()
    math(EXPR last "${count} - 1")
    foreach(i RANGE ${last})
      foreach(
        field
        IN
        ITEMS ${backend_PROGRAM} VERSION ROOT SOURCE KIND VERDICT PROBLEM
      )
        _cudaops_state_get("CANDIDATE ${i} ${field}" ${field})
      endforeach()
      set(word "${VERDICT}")
      if(PROBLEM STREQUAL "")
        set(${out_whole} TRUE PARENT_SCOPE)
      else()
        set(word "broken: ${PROBLEM}")
      endif()
      # A bar can't stand in a path that CMake handles as a list.
      list(APPEND rows "${${backend_PROGRAM}}|${VERSION}|${SOURCE}|${VERDICT}|${PROBLEM}")
      if(NOT i EQUAL best)
        list(APPEND others "${VERSION}|${word}|${ROOT} (${SOURCE})")
        set(about "${backend_NAME} ${VERSION}")
        if(gpu STREQUAL "CUDA")
          string(APPEND about ", ${word}")
        endif()
        if(KIND STREQUAL "hint" OR (KIND STREQUAL "explicit" AND gpu STREQUAL "HIP"))
          _cudaops_status(
            "CudaTorchMatch: ${SOURCE} names ${ROOT} (${about}); ${best_ROOT} (${best_SOURCE}) is used instead"
          )
        endif()
      endif()
    endforeach()
  endif()
  _cudaops_state_set(CANDIDATES "${rows}")
  set(${out_others} "${others}" PARENT_SCOPE)
endfunction()

# _cudaops_match_off(<code> <reason> <line of the cure>...)
function(_cudaops_match_off code reason)
  _cudaops_state_set(REASON_CODE "${code}")
  _cudaops_state_set(REASON "${reason}")
  _cudaops_state_set(REASON_FIX "${ARGN}")
endfunction()
