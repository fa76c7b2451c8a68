# SPDX-License-Identifier: Apache-2.0
# Every process that the modules start is started here.

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)
# An empty value of a keyword is a value.
if(POLICY CMP0174)
  cmake_policy(SET CMP0174 NEW)
endif()

include("${CMAKE_CURRENT_LIST_DIR}/options.cmake")

# _cudaops_run(<prefix> [ECHO] [TIMEOUT <s>] [WORKING_DIRECTORY <dir>] [ENVIRONMENT <VAR=value>...] COMMAND <arg>...)
#
# Sets <prefix>_EXIT, <prefix>_OUTPUT and <prefix>_ERROR. ECHO shows the output while it runs as well.
function(_cudaops_run prefix)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ECHO" "TIMEOUT;WORKING_DIRECTORY" "ENVIRONMENT;COMMAND")
  set(options "")
  if(DEFINED arg_TIMEOUT)
    list(APPEND options TIMEOUT "${arg_TIMEOUT}")
  endif()
  if(DEFINED arg_WORKING_DIRECTORY)
    list(APPEND options WORKING_DIRECTORY "${arg_WORKING_DIRECTORY}")
  endif()
  if(arg_ECHO)
    list(APPEND options ECHO_OUTPUT_VARIABLE ECHO_ERROR_VARIABLE)
  endif()
  # The variables are set here and put back: `cmake -E env` would cost a process more for each probe.
  set(names "")
  foreach(assignment IN LISTS arg_ENVIRONMENT)
    string(REGEX MATCH "^[^=]+" name "${assignment}")
    string(REGEX REPLACE "^[^=]+=" "" value "${assignment}")
    list(APPEND names ${name})
    if(DEFINED ENV{${name}})
      set(saved_${name} "$ENV{${name}}")
    endif()
    set(ENV{${name}} "${value}")
  endforeach()
  execute_process(
    COMMAND ${arg_COMMAND}
    ${options}
    RESULT_VARIABLE exit
    OUTPUT_VARIABLE output
    ERROR_VARIABLE error
  )
  foreach(name IN LISTS names)
    if(DEFINED saved_${name})
      set(ENV{${name}} "${saved_${name}}")
    else()
      unset(ENV{${name}})
    endif()
  endforeach()
  set(${prefix}_EXIT "${exit}" PARENT_SCOPE)
  set(${prefix}_OUTPUT "${output}" PARENT_SCOPE)
  set(${prefix}_ERROR "${error}" PARENT_SCOPE)
endfunction()

# _cudaops_probe(<prefix> FILES <file>... [MATCHALL <regex> [STREAM ERROR]] [MACHINE] COMMAND <arg>...)
#
# _cudaops_run, remembered in an INTERNAL cache entry together with path, size and time of FILES. MATCHALL keeps only
# what matches on stdout (or stderr) as a list in <prefix>_OUTPUT: the cache is no place for sixty kilobytes of --help.
# MACHINE shares the answer between build trees through the store; for probes that cost more than a process start.
function(_cudaops_probe prefix)
  cmake_parse_arguments(PARSE_ARGV 1 arg "MACHINE" "MATCHALL;STREAM" "FILES;COMMAND;ENVIRONMENT")
  set(key "${arg_COMMAND}|${arg_ENVIRONMENT}|${arg_MATCHALL}")
  foreach(file IN LISTS arg_FILES)
    _cudaops_file_stamp("${file}" stamp)
    string(APPEND key "|${stamp}")
  endforeach()
  string(SHA1 key "${key}")
  set(entry "_CUDAOPS_PROBE_${key}")
  set(value "")
  if(DEFINED CACHE{${entry}})
    set(value "$CACHE{${entry}}")
  elseif(arg_MACHINE)
    _cudaops_store(store)
    if(EXISTS "${store}/probes/${key}")
      file(READ "${store}/probes/${key}" value)
    endif()
  endif()
  if(NOT value MATCHES "<<[|]>>.*<<[|]>>")
    _cudaops_run(run ENVIRONMENT ${arg_ENVIRONMENT} COMMAND ${arg_COMMAND})
    if(DEFINED arg_MATCHALL)
      set(stream OUTPUT)
      if(DEFINED arg_STREAM)
        set(stream ${arg_STREAM})
      endif()
      string(REGEX MATCHALL "${arg_MATCHALL}" run_OUTPUT "${run_${stream}}")
      list(REMOVE_DUPLICATES run_OUTPUT)
      set(run_ERROR "")
    endif()
    # A cache entry holds no line breaks.
    set(value "${run_EXIT}<<|>>${run_OUTPUT}<<|>>${run_ERROR}")
    string(REPLACE "\n" "<<n>>" value "${value}")
    if(arg_MACHINE AND run_EXIT STREQUAL "0")
      # A store that can't be written costs time only.
      file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/cudaops/${key}" "${value}")
      execute_process(
        COMMAND "${CMAKE_COMMAND}" -E make_directory "${store}/probes"
        OUTPUT_QUIET
        ERROR_QUIET
      )
      execute_process(
        COMMAND "${CMAKE_COMMAND}" -E copy "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/cudaops/${key}" "${store}/probes/${key}"
        OUTPUT_QUIET
        ERROR_QUIET
      )
    endif()
  endif()
  # A failure is asked again: its cause may lie outside of FILES.
  if(NOT DEFINED CACHE{${entry}} AND value MATCHES "^0<<")
    set(${entry} "${value}" CACHE INTERNAL "CudaOps probe")
  endif()
  string(REPLACE "<<n>>" "\n" value "${value}")
  string(FIND "${value}" "<<|>>" first)
  string(FIND "${value}" "<<|>>" second REVERSE)
  string(SUBSTRING "${value}" 0 ${first} exit)
  math(EXPR begin "${first} + 5")
  math(EXPR length "${second} - ${begin}")
  string(SUBSTRING "${value}" ${begin} ${length} output)
  math(EXPR begin "${second} + 5")
  string(SUBSTRING "${value}" ${begin} -1 error)
  set(${prefix}_EXIT "${exit}" PARENT_SCOPE)
  set(${prefix}_OUTPUT "${output}" PARENT_SCOPE)
  set(${prefix}_ERROR "${error}" PARENT_SCOPE)
endfunction()

# _cudaops_file_stamp(<file> <out>): path, size and time, or that it isn't there.
function(_cudaops_file_stamp file out)
  if(EXISTS "${file}" AND NOT IS_DIRECTORY "${file}")
    file(REAL_PATH "${file}" real)
    file(SIZE "${real}" size)
    file(TIMESTAMP "${real}" time "%s" UTC)
    set(${out} "${file}:${size}:${time}" PARENT_SCOPE)
  elseif(IS_DIRECTORY "${file}")
    file(TIMESTAMP "${file}" time "%s" UTC)
    set(${out} "${file}:${time}" PARENT_SCOPE)
  else()
    set(${out} "${file}:absent" PARENT_SCOPE)
  endif()
endfunction()

# _cudaops_first_line(<text> <out>): the first line that isn't blank.
function(_cudaops_first_line text out)
  string(REGEX MATCH "[^\r\n]*[^ \t\r\n][^\r\n]*" line "${text}")
  set(${out} "${line}" PARENT_SCOPE)
endfunction()
