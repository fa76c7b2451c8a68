# SPDX-License-Identifier: Apache-2.0
# The search for CUDA toolkits and for ROCm, written once: each place of the search order is described, and what is there
# is a candidate. Which of them is used is decided in match/choose.

_cudaops_use(base/replay base/state search/backends)

# _cudaops_search(<CUDA|HIP>)
#
# Fills the state: CANDIDATE_COUNT; of each candidate its fields (search/backends), SOURCE and KIND, as
# "CANDIDATE <index> <FIELD>".
function(_cudaops_search gpu)
  _cudaops_backend(${gpu} backend)
  if(gpu STREQUAL "HIP")
    _cudaops_use(facts/rocm search/candidates search/rocms)
  else()
    _cudaops_use(facts/toolkit search/candidates search/toolkits)
  endif()
  _cudaops_search_places(${gpu} places sources kinds)
  set(looked "")
  set(seen "")
  foreach(place source kind IN ZIP_LISTS places sources kinds)
    # Of links to directories alone: nvcc looks beside the link that it was started by.
    cmake_path(GET place PARENT_PATH directory)
    cmake_path(GET place FILENAME name)
    file(REAL_PATH "${directory}" directory)
    if("${directory}/${name}|${kind}" IN_LIST looked)
      continue()
    endif()
    list(APPEND looked "${directory}/${name}|${kind}")
    cmake_language(CALL ${backend_DESCRIBE} found "${place}" ${kind})
    if(NOT found_IDENTITY IN_LIST seen)
      list(APPEND seen "${found_IDENTITY}")
      _cudaops_candidate_keep("${backend_FIELDS}" "${source}" ${kind} ignored)
    endif()
  endforeach()
endfunction()

# _cudaops_search_provided(<CUDA|HIP> <place> <source> <out-index>): what was brought because nothing fits is a candidate
# as well, the last one.
function(_cudaops_search_provided gpu place source out_index)
  _cudaops_backend(${gpu} backend)
  _cudaops_use(facts/toolkit)
  cmake_language(CALL ${backend_DESCRIBE} found "${place}" found)
  _cudaops_candidate_keep("${backend_FIELDS}" "${source}" found index)
  set(${out_index} ${index} PARENT_SCOPE)
endfunction()

# One more candidate: found_* of the calling function.
function(_cudaops_candidate_keep fields source kind out_index)
  _cudaops_state_get(CANDIDATE_COUNT count)
  if(count STREQUAL "")
    set(count 0)
  endif()
  set(found_SOURCE "${source}")
  set(found_KIND "${kind}")
  foreach(field IN LISTS fields ITEMS SOURCE KIND)
    _cudaops_state_set("CANDIDATE ${count} ${field}" "${found_${field}}")
  endforeach()
  set(${out_index} ${count} PARENT_SCOPE)
  math(EXPR count "${count} + 1")
  _cudaops_state_set(CANDIDATE_COUNT ${count})
endfunction()

# _cudaops_search_keys(<CUDA|HIP> <out>): what _cudaops_search() has left in the state.
function(_cudaops_search_keys gpu out)
  _cudaops_backend(${gpu} backend)
  _cudaops_state_get(CANDIDATE_COUNT count)
  set(keys CANDIDATE_COUNT)
  if(count GREATER 0)
    math(EXPR last "${count} - 1")
    foreach(i RANGE ${last})
      foreach(field IN LISTS backend_FIELDS ITEMS SOURCE KIND)
        list(APPEND keys "CANDIDATE ${i} ${field}")
      endforeach()
    endforeach()
  endif()
  set(${out} "${keys}" PARENT_SCOPE)
endfunction()
