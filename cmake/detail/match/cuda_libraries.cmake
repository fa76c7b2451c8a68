# SPDX-License-Identifier: Apache-2.0
# CUDA's libraries beside the runtime, of the copy that torch loads: two cuBLAS in one process are two sets of handles
# and twice the memory.
#
# Where torch's copy isn't the toolkit's, its headers must be its own, and all others the toolkit's: wheels put the
# headers of every library and of the runtime into one directory, and the runtime's of another release are not for this
# nvcc. So a library's headers are linked into a directory of their own in the build tree, which is what its users
# search. What they include of the runtime is found in the toolkit.

_cudaops_use(base/replay base/state match/interfaces)

# _cudaops_targets_cuda_libraries(): the targets of _cudaops_library_names().
function(_cudaops_targets_cuda_libraries)
  _cudaops_library_names(names)
  _cudaops_replay_begin(LIBRARIES known)
  if(NOT known)
    _cudaops_use(match/library_search)
    _cudaops_find_cuda_libraries()
    set(keys "")
    foreach(name IN LISTS names)
      list(APPEND keys "LIBRARY ${name}" "LIBRARY_INCLUDE ${name}")
      list(APPEND keys "LIBRARY_PROBLEM ${name}" "LIBRARY_FACTS ${name}" "LIBRARY_FIX ${name}")
    endforeach()
    _cudaops_replay_end(LIBRARIES ${keys})
  endif()
  foreach(name IN LISTS names)
    _cudaops_state_get("LIBRARY ${name}" location)
    if(location STREQUAL "")
      foreach(key IN ITEMS PROBLEM FACTS FIX)
        _cudaops_state_get("LIBRARY_${key} ${name}" ${key})
      endforeach()
      _cudaops_library_problem(${name} "${PROBLEM}" FACTS ${FACTS} FIX ${FIX})
    else()
      _cudaops_state_get("LIBRARY_INCLUDE ${name}" include)
      add_library(CudaOps::${name} SHARED IMPORTED GLOBAL)
      set_target_properties(
        CudaOps::${name}
        PROPERTIES
          IMPORTED_LOCATION "${location}"
          SYSTEM OFF
          INTERFACE_LINK_LIBRARIES CudaOps::cuda_headers
          INTERFACE_INCLUDE_DIRECTORIES "${include}"
      )
    endif()
  endforeach()
endfunction()
