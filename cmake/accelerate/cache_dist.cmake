# SPDX-License-Identifier: Apache-2.0
# Compiles on other machines through sccache-dist, where sccache's own configuration names a scheduler: whether that
# works, by a real compile, and which of two sccache servers (tools/cache_dist.sh) the launcher is to use.

_cudaops_use(base/message base/options base/probe base/programs base/stamps base/state base/text launch/launcher)

# _cudaops_cache_dist()
#
# For a chosen sccache. Sets CACHE_DIST (ON, OFF), CACHE_DIST_SCHEDULER, CACHE_DIST_REASON and CACHE_DIST_SETTINGS, the
# lines for the launcher's settings; leaves all empty where no scheduler is configured.
function(_cudaops_cache_dist)
  _cudaops_cache_dist_config(config scheduler)
  if(scheduler STREQUAL "")
    return()
  endif()
  _cudaops_state_get(CACHE_PROGRAM program)
  string(REGEX REPLACE "//[^/@]*@" "//***@" shown "${scheduler}")
  _cudaops_state_set(CACHE_DIST_SCHEDULER "${shown}")

  # An sccache server keeps what it read when it started. One of our own for each content of the configuration, and one
  # that knows no scheduler: what was proven is what is used, and what failed can be left out.
  file(SHA1 "${config}" content)
  _cudaops_file_stamp("${program}" stamp)
  string(SHA1 key "${config}|${content}|${stamp}")
  string(SUBSTRING "${key}" 0 12 name)
  _cudaops_store(store)
  set(base "${store}/sccache/${name}")
  set(socket "${base}.sock")
  set(local_socket "${base}-local.sock")
  string(LENGTH "${local_socket}" length)
  if(length GREATER 100)
    # The name of a socket may have 107 characters. These lie in no directory.
    set(socket "\\x00cudaops-${key}")
    set(local_socket "\\x00cudaops-${key}-local")
  endif()
  set(tool "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../tools/cache_dist.sh")
  cmake_path(NORMAL_PATH tool)
  # Not by file(WRITE): the configuration may hold secrets, and the store may be read-only.
  _cudaops_run(copy COMMAND /bin/sh "${tool}" "${config}" "${base}-local.conf")
  set(local_config "${base}-local.conf")
  if(NOT copy_EXIT STREQUAL "0")
    set(local_config /dev/null)
    set(socket "\\x00cudaops-${key}")
    set(local_socket "\\x00cudaops-${key}-local")
  endif()

  set(environment "SCCACHE_CONF=${config}" "SCCACHE_SERVER_UDS=${socket}")
  if(copy_EXIT STREQUAL "0" AND "$ENV{SCCACHE_LOG}$ENV{SCCACHE_ERROR_LOG}" STREQUAL "")
    list(APPEND environment "SCCACHE_LOG=sccache::compiler=warn" "SCCACHE_ERROR_LOG=${base}.log")
  endif()
  _cudaops_cache_dist_prove("${key}" "${program}" "${shown}" "${base}.log" reason ${environment})
  if(reason STREQUAL "")
    _cudaops_state_set(CACHE_DIST ON)
    _cudaops_status("CudaOps: compiles are distributed by sccache through ${shown}")
  else()
    _cudaops_state_set(CACHE_DIST OFF)
    _cudaops_state_set(CACHE_DIST_REASON "${reason}")
    _cudaops_state_set(CACHE_WORTH_SAYING "compiles are not distributed, they run here: ${reason}")
  endif()

  set(text "")
  if(reason STREQUAL "")
    _cudaops_launcher_line(text dist 1)
  endif()
  foreach(name IN ITEMS config socket local_config local_socket)
    _cudaops_launcher_line(text dist_${name} "${${name}}")
  endforeach()
  if(copy_EXIT STREQUAL "0")
    _cudaops_launcher_line(text dist_log "${base}.log")
  endif()
  _cudaops_state_set(CACHE_DIST_SETTINGS "${text}")
endfunction()

# _cudaops_cache_dist_config(<out-file> <out-scheduler>): sccache's configuration file, and the scheduler it names.
function(_cudaops_cache_dist_config out_file out_scheduler)
  set(${out_file} "" PARENT_SCOPE)
  set(${out_scheduler} "" PARENT_SCOPE)
  _cudaops_env(SCCACHE_CONF file)
  if(file STREQUAL "")
    set(file "$ENV{HOME}/.config/sccache/config")
    if(IS_ABSOLUTE "$ENV{XDG_CONFIG_HOME}")
      set(file "$ENV{XDG_CONFIG_HOME}/sccache/config")
    endif()
  endif()
  if(EXISTS "${file}" AND NOT IS_DIRECTORY "${file}")
    file(STRINGS "${file}" lines REGEX "^[^#]*scheduler_url[ \t]*=" ENCODING UTF-8)
    if("${lines}" MATCHES "scheduler_url[ \t]*=[ \t]*[\"']([^\"']+)[\"']")
      set(${out_file} "${file}" PARENT_SCOPE)
      set(${out_scheduler} "${CMAKE_MATCH_1}" PARENT_SCOPE)
    endif()
  endif()
endfunction()

# _cudaops_cache_dist_prove(<key> <sccache> <scheduler> <log> <out-reason> <VAR=value>...)
#
# <out-reason> is empty where a file was compiled on another machine. Nothing less proves it: with a wrong token, say,
# --dist-status looks healthy and each compile fails. Remembered in this build tree for this configuration and these
# compilers; a failure is not remembered.
function(
  _cudaops_cache_dist_prove
  key
  program
  scheduler
  log
  out_reason
)
  cmake_parse_arguments(PARSE_ARGV 5 arg "" "" "")
  set(environment "${arg_UNPARSED_ARGUMENTS}")
  _cudaops_cxx(cxx)
  set(compiler "${cxx}")
  set(source probe.cpp)
  set(text "int cudaops_probe() { return 1; }\n")
  set(least 1)
  if(CMAKE_CUDA_COMPILER AND CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA")
    # Through all that nvcc runs: cudafe++, cicc, ptxas and the host compiler, each a compile of its own to sccache.
    set(compiler "${CMAKE_CUDA_COMPILER}")
    if(CMAKE_CUDA_HOST_COMPILER)
      list(APPEND compiler "-ccbin=${CMAKE_CUDA_HOST_COMPILER}")
    endif()
    set(source probe.cu)
    set(text "__global__ void cudaops_probe(float* x) { *x = 1; }\n")
    set(least 4)
  endif()
  foreach(file IN ITEMS "${cxx}" "${CMAKE_CUDA_COMPILER}" "${CMAKE_CUDA_HOST_COMPILER}")
    if(file)
      _cudaops_file_stamp("${file}" stamp)
      string(APPEND key "|${stamp}")
    endif()
  endforeach()
  string(SHA1 entry "${key}")
  set(entry "_CUDAOPS_DIST_${entry}")
  if(DEFINED CACHE{${entry}})
    set(${out_reason} "" PARENT_SCOPE)
    return()
  endif()

  # The server may have been started while there was no scheduler, and asks again only every half minute.
  foreach(attempt RANGE 1 2)
    _cudaops_run(status TIMEOUT 15 ENVIRONMENT ${environment} COMMAND "${program}" --dist-status)
    if(NOT status_OUTPUT MATCHES "NotConnected" OR attempt EQUAL 2)
      break()
    endif()
    _cudaops_run(stop TIMEOUT 15 ENVIRONMENT ${environment} COMMAND "${program}" --stop-server)
  endforeach()
  if(NOT status_EXIT STREQUAL "0")
    _cudaops_first_line("${status_ERROR}" line)
    if(line STREQUAL "")
      set(line "exit code ${status_EXIT}")
    endif()
    set(${out_reason} "sccache's server doesn't start with this configuration (${line})" PARENT_SCOPE)
    return()
  elseif(status_OUTPUT MATCHES "\"Disabled\":\"([^\"]*)")
    set(${out_reason} "sccache has a scheduler in its configuration and doesn't use it (${CMAKE_MATCH_1})" PARENT_SCOPE)
    return()
  elseif(status_OUTPUT MATCHES "\"NotConnected\"")
    set(${out_reason} "the scheduler ${scheduler} can't be reached" PARENT_SCOPE)
    return()
  elseif(status_OUTPUT MATCHES "\"num_servers\":0")
    set(${out_reason} "the scheduler ${scheduler} has no servers" PARENT_SCOPE)
    return()
  endif()

  set(directory "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/cudaops/dist")
  file(MAKE_DIRECTORY "${directory}")
  file(WRITE "${directory}/${source}" "${text}")
  _cudaops_cache_dist_count("${program}" before errors_before ${environment})
  set(log_size 0)
  if(EXISTS "${log}")
    file(SIZE "${log}" log_size)
  endif()
  # Long enough for the first time on a busy machine, when the compilers are packed and sent.
  _cudaops_run(
    compile
    TIMEOUT 180
    WORKING_DIRECTORY "${directory}"
    ENVIRONMENT ${environment} SCCACHE_RECACHE=1
    COMMAND "${program}" ${compiler} -c ${source} -o probe.o
  )
  _cudaops_cache_dist_count("${program}" after errors_after ${environment})
  math(EXPR done "${after} - ${before}")
  math(EXPR failed "${errors_after} - ${errors_before}")
  if(compile_EXIT STREQUAL "0" AND done GREATER_EQUAL least AND failed EQUAL 0)
    set(${entry} ON CACHE INTERNAL "CudaOps: a compile was distributed")
    set(${out_reason} "" PARENT_SCOPE)
    return()
  endif()

  set(said "${compile_ERROR}\n${compile_OUTPUT}")
  set(logged "")
  if(EXISTS "${log}")
    file(READ "${log}" logged OFFSET ${log_size})
  endif()
  if(compile_EXIT MATCHES "[Tt]imeout")
    set(reason "a compile through ${scheduler} did not finish in 180 s")
  elseif(said MATCHES "http error status: Error 40[13][^\r\n:]*:? *([^\r\n]*)")
    string(REGEX REPLACE "sccache: .*$" "" words "${CMAKE_MATCH_1}")
    set(reason "the scheduler ${scheduler} refuses this client (${words}): dist.auth.token is not the scheduler's")
  elseif(said MATCHES "http error status: ([^\r\n]*)")
    set(reason "${scheduler}: ${CMAKE_MATCH_1}")
  elseif(logged MATCHES "falling back to local: ([^\r\n]*)")
    set(reason "${CMAKE_MATCH_1}")
    # Which server, and the last cause.
    if(reason MATCHES "ServerId\\(([^)]*)\\): error sending request for url [^ ]*: (.*)$")
      set(reason "server ${CMAKE_MATCH_1}: ${CMAKE_MATCH_2}")
    elseif(reason MATCHES " for url \\(https?://([^/]*)/.*\"description\":\"([^\"]*)\"")
      set(reason "server ${CMAKE_MATCH_1}: ${CMAKE_MATCH_2}")
    endif()
  elseif(NOT compile_EXIT STREQUAL "0")
    _cudaops_first_line("${said}" line)
    set(reason "a compile through ${scheduler} failed: ${line}")
  else()
    set(reason "sccache ran ${done} of at least ${least} parts of a compile elsewhere, ${failed} failed there")
  endif()
  set(${out_reason} "${reason}" PARENT_SCOPE)
endfunction()

# _cudaops_cache_dist_count(<sccache> <out-done> <out-failed> <VAR=value>...): what the server has had compiled elsewhere.
function(_cudaops_cache_dist_count program out_done out_failed)
  set(done 0)
  _cudaops_run(
    stats
    TIMEOUT 15
    ENVIRONMENT ${ARGN}
    COMMAND "${program}" --show-stats --stats-format=json
  )
  string(JSON failed ERROR_VARIABLE error GET "${stats_OUTPUT}" stats dist_errors)
  string(JSON servers ERROR_VARIABLE error GET "${stats_OUTPUT}" stats dist_compiles)
  string(JSON length ERROR_VARIABLE error LENGTH "${servers}")
  if(length GREATER 0)
    math(EXPR last "${length} - 1")
    foreach(i RANGE ${last})
      string(JSON server MEMBER "${servers}" ${i})
      string(JSON number GET "${servers}" "${server}")
      math(EXPR done "${done} + ${number}")
    endforeach()
  endif()
  if(NOT failed MATCHES "^[0-9]+$")
    set(failed 0)
  endif()
  set(${out_done} ${done} PARENT_SCOPE)
  set(${out_failed} ${failed} PARENT_SCOPE)
endfunction()
