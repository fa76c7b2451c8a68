# SPDX-License-Identifier: Apache-2.0
# The line about the compiler cache at the end of a build.

_cudaops_use(base/state)

# _cudaops_cache_summary_create(<directory>): the line at the end of a build in which something was compiled. A file that is made of
# all our objects is made after them (Makefiles know no single object of another target: after what is linked of them);
# where nothing was compiled nothing runs.
function(_cudaops_cache_summary_create directory)
  _cudaops_state_get(CACHE_TARGETS targets)
  if(TARGET cudaops_cache_summary)
    return()
  endif()
  set(depends "")
  set(linked "^(EXECUTABLE|STATIC_LIBRARY|SHARED_LIBRARY|MODULE_LIBRARY)$")
  list(REMOVE_DUPLICATES targets)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    _cudaops_cache_in_all(${target} in_all)
    if(NOT in_all)
      continue()
    elseif(type STREQUAL "OBJECT_LIBRARY" OR (CMAKE_GENERATOR MATCHES "Ninja" AND type MATCHES "${linked}"))
      list(APPEND depends $<TARGET_OBJECTS:${target}>)
    elseif(type MATCHES "${linked}")
      list(APPEND depends ${target})
    endif()
  endforeach()
  if(NOT depends)
    return()
  endif()
  set(stamp "${directory}/summary.stamp")
  get_property(multi GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(multi)
    set(stamp "${directory}/summary-$<CONFIG>.stamp")
  endif()
  cmake_path(SET tool NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../tools/cache_summary.sh")
  _cudaops_state_get(CACHE_ENGINE engine)
  _cudaops_state_get(CACHE_PROGRAM program)
  add_custom_command(
    OUTPUT "${stamp}"
    COMMAND /bin/sh "${tool}" "${directory}" "${engine}" "${stamp}" "${program}"
    DEPENDS ${depends}
    COMMENT "Compiler cache: hits and misses"
    VERBATIM
  )
  add_custom_target(cudaops_cache_summary ALL DEPENDS "${stamp}")
endfunction()

# Whether `all` builds it.
function(_cudaops_cache_in_all target out)
  set(${out} FALSE PARENT_SCOPE)
  get_target_property(excluded ${target} EXCLUDE_FROM_ALL)
  if(excluded)
    return()
  endif()
  get_target_property(directory ${target} SOURCE_DIR)
  while(NOT "${directory}" STREQUAL "")
    get_property(excluded DIRECTORY "${directory}" PROPERTY EXCLUDE_FROM_ALL)
    if(excluded)
      return()
    endif()
    get_property(directory DIRECTORY "${directory}" PROPERTY PARENT_DIRECTORY)
  endwhile()
  set(${out} TRUE PARENT_SCOPE)
endfunction()
