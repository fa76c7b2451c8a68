# SPDX-License-Identifier: Apache-2.0
# How many compiles and links run at once under Ninja, where its own number of jobs would need more memory or cores than
# there are. What takes how much is known from the last build, else by rules of thumb.
#
# CMake 4.2 and later can name the pool of a source (JOB_POOL_COMPILE); before, only that of a target, whose host files
# are in CUDA's pool then.

_cudaops_use(accelerate/jobs_sizes base/machine base/message base/options base/state base/text)

# _cudaops_jobs_target(<target>): counts <target> in.
function(_cudaops_jobs_target target)
  _cudaops_option(CUDAOPS_CUDA_JOBS ignored)
  _cudaops_option(CUDAOPS_CUDA_JOB_MEMORY ignored)
  _cudaops_state_append(JOBS_TARGETS ${target})
endfunction()

# _cudaops_jobs_decide()
#
# At the end of the configure step: fills JOBS_CUDA, JOBS_HEAVY, JOBS_HOST, JOBS_LINK (numbers, empty where Ninja's own
# will do), JOBS_EDGES (what goes into which pool) and JOBS_REASON.
function(_cudaops_jobs_decide)
  foreach(
    key
    IN
    ITEMS CUDA HEAVY HOST LINK EDGES REASON
  )
    _cudaops_state_set(JOBS_${key} "")
  endforeach()
  _cudaops_state_get(JOBS_TARGETS targets)
  list(REMOVE_DUPLICATES targets)
  _cudaops_option(CUDAOPS_CUDA_JOBS wanted)
  # Three lists of the same length a kind: path, target, size in MiB.
  foreach(kind IN ITEMS device host)
    set(${kind}_paths "")
    set(${kind}_targets "")
    set(${kind}_sizes "")
  endforeach()
  set(links "")
  set(greatest_threads 1)
  _cudaops_jobs_by_source(by_source)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    get_target_property(pool ${target} JOB_POOL_LINK)
    if(type MATCHES "^(SHARED_LIBRARY|MODULE_LIBRARY|EXECUTABLE)$" AND NOT pool)
      list(APPEND links ${target})
    endif()
    get_target_property(pool ${target} JOB_POOL_COMPILE)
    if(pool)
      continue()
    endif()
    _cudaops_jobs_sources(${target} device host)
    _cudaops_jobs_threads(${target} threads_${target})
    if(threads_${target} GREATER greatest_threads)
      set(greatest_threads ${threads_${target}})
    endif()
    if(NOT device STREQUAL "" AND NOT by_source)
      # In the pool of the target's device code.
      set(host "")
    endif()
    foreach(kind IN ITEMS device host)
      foreach(path IN LISTS ${kind})
        list(APPEND ${kind}_paths "${path}")
        list(APPEND ${kind}_targets ${target})
      endforeach()
    endforeach()
  endforeach()
  list(LENGTH device_paths device_count)
  list(LENGTH host_paths host_count)
  list(LENGTH links link_count)
  if(device_count EQUAL 0)
    return()
  endif()

  _cudaops_machine(machine)
  _cudaops_jobs_parallel(${machine_CORES} ninja)
  _cudaops_jobs_parallel(${machine_QUOTA} cap)
  set(free "${machine_FREE}")
  _cudaops_jobs_least(device_most ${ninja} ${device_count})
  _cudaops_jobs_least(host_most ${ninja} ${host_count})
  _cudaops_jobs_least(link_most ${ninja} ${link_count})
  # At most: what is measured may show that there is room.
  set(needed 0)
  if(NOT free STREQUAL "")
    math(EXPR needed "${device_most} * 2970 * ${greatest_threads} + ${host_most} * 1600")
  endif()
  set(tight FALSE)
  if(NOT wanted STREQUAL "" OR needed GREATER free OR cap LESS device_most)
    set(tight TRUE)
  endif()
  _cudaops_jobs_measure(${tight} measure)
  if(NOT tight)
    return()
  endif()

  # Looked at only now: most machines have room for anything.
  _cudaops_use(accelerate/jobs_limit)
  _cudaops_jobs_limit()
endfunction()

# The jobs that Ninja runs on so many cores.
function(_cudaops_jobs_parallel cores out)
  if(cores LESS 2)
    set(${out} 2 PARENT_SCOPE)
  elseif(cores EQUAL 2)
    set(${out} 3 PARENT_SCOPE)
  else()
    math(EXPR jobs "${cores} + 2")
    set(${out} ${jobs} PARENT_SCOPE)
  endif()
endfunction()

# _cudaops_jobs_apply(): the pools, after everything else has been said about the targets.
function(_cudaops_jobs_apply)
  _cudaops_state_get(JOBS_EDGES edges)
  if(NOT edges)
    return()
  endif()
  foreach(key IN ITEMS CUDA HEAVY HOST LINK)
    _cudaops_state_get(JOBS_${key} depth_${key})
  endforeach()
  get_property(pools GLOBAL PROPERTY JOB_POOLS)
  if(NOT pools)
    # The property hides the variable.
    set(pools ${CMAKE_JOB_POOLS})
  endif()
  _cudaops_jobs_by_source(by_source)
  foreach(edge IN LISTS edges)
    string(REGEX MATCH "^([a-z]+)\\|([^|]*)\\|(.*)$" edge "${edge}")
    set(pool "${CMAKE_MATCH_1}")
    set(target "${CMAKE_MATCH_2}")
    set(path "${CMAKE_MATCH_3}")
    string(TOUPPER "${pool}" key)
    if(depth_${key} STREQUAL "")
      continue()
    endif()
    if(pool STREQUAL "link")
      set_property(TARGET ${target} PROPERTY JOB_POOL_LINK cudaops_link)
    elseif(by_source)
      get_source_file_property(own "${path}" TARGET_DIRECTORY ${target} JOB_POOL_COMPILE)
      if(own)
        continue()
      endif()
      set_property(SOURCE "${path}" TARGET_DIRECTORY ${target} PROPERTY JOB_POOL_COMPILE cudaops_${pool})
    else()
      # Device code comes first in the list.
      get_target_property(taken ${target} JOB_POOL_COMPILE)
      if(taken)
        continue()
      endif()
      set_property(TARGET ${target} PROPERTY JOB_POOL_COMPILE cudaops_${pool})
    endif()
    _cudaops_jobs_pool(pools cudaops_${pool} ${depth_${key}})
  endforeach()
  if(by_source)
    _cudaops_jobs_unity("${edges}" "${pools}")
  endif()
  set_property(GLOBAL PROPERTY JOB_POOLS ${pools})
endfunction()

# _cudaops_jobs_unity(<edges> <pools>)
#
# Sources that CMake puts together in one file are in the pool of that file, which CMake makes later.
function(_cudaops_jobs_unity edges pools)
  foreach(edge IN LISTS edges)
    if(NOT edge MATCHES "^(cuda|heavy)\\|([^|]*)\\|")
      continue()
    endif()
    set(pool ${CMAKE_MATCH_1})
    set(target "${CMAKE_MATCH_2}")
    get_target_property(unity ${target} UNITY_BUILD)
    if(unity AND "${pools}" MATCHES "(^|;)cudaops_${pool}=")
      if(NOT DEFINED count_${target})
        set(count_${target} 0)
      endif()
      get_target_property(directory ${target} BINARY_DIR)
      foreach(name IN ITEMS cu.cu hip.hip)
        set_property(
          SOURCE
            "${directory}/CMakeFiles/${target}.dir/Unity/unity_${count_${target}}_${name}"
            TARGET_DIRECTORY
            ${target}
          PROPERTY JOB_POOL_COMPILE cudaops_${pool}
        )
      endforeach()
      math(EXPR count_${target} "${count_${target}} + 1")
    endif()
  endforeach()
endfunction()

# _cudaops_jobs_pool(<list> <name> <depth>): one of the user's of that name stays.
function(_cudaops_jobs_pool list name depth)
  if(NOT "${${list}}" MATCHES "(^|;)${name}=")
    set(${list} ${${list}} "${name}=${depth}" PARENT_SCOPE)
  endif()
endfunction()

# _cudaops_jobs_report(<out>): the member "jobs" of the report.
function(_cudaops_jobs_report out)
  set(members "")
  foreach(key IN ITEMS CUDA HEAVY HOST LINK)
    _cudaops_state_get(JOBS_${key} value)
    if(value STREQUAL "")
      set(value null)
    endif()
    string(TOLOWER "${key}" name)
    list(APPEND members "\"${name}\": ${value}")
  endforeach()
  _cudaops_state_get(JOBS_REASON reason)
  _cudaops_json_quote(reason "${reason}")
  list(APPEND members "\"reason\": ${reason}")
  list(JOIN members ", " members)
  set(${out} "{ ${members} }" PARENT_SCOPE)
endfunction()
