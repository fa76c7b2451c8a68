# SPDX-License-Identifier: Apache-2.0
# Every process that the modules start is started here, and what the kernel says in files is read here.

_cudaops_use(base/options base/replay base/stamps)

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
    # Not by REGEX REPLACE, whose ^ matches again after each replacement: a value may hold = as well.
    string(FIND "${assignment}" "=" position)
    string(SUBSTRING "${assignment}" 0 ${position} name)
    math(EXPR position "${position} + 1")
    string(SUBSTRING "${assignment}" ${position} -1 value)
    list(APPEND names ${name})
    if(DEFINED ENV{${name}})
      set(saved_${name} "$ENV{${name}}")
    endif()
    set(ENV{${name}} "${value}")
  endforeach()
  execute_process(COMMAND ${arg_COMMAND} ${options} RESULT_VARIABLE exit OUTPUT_VARIABLE output ERROR_VARIABLE error)
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

# _cudaops_probe(
#   <prefix> [FILES <file>...] [KEY <text>] [MATCHALL <regex> [STREAM ERROR]] [MACHINE | PROGRAM [OF <file>]]
#   [DEPENDS <regex>] [TIMEOUT <s>] [ENVIRONMENT <VAR=value>...] COMMAND <arg>...
# )
#
# _cudaops_run, remembered in an INTERNAL cache entry together with the stamps of FILES and KEY. MATCHALL keeps only what
# matches on stdout (or stderr) as a list in <prefix>_OUTPUT: the cache is no place for sixty kilobytes of --help.
#
# MACHINE: the answer follows from FILES and KEY alone and is shared between build trees through the store. PROGRAM: it is
# what <file> says (the first word of COMMAND), and is shared if that is a program with _cudaops_answers_stamp(). DEPENDS: with
# PROGRAM; the answer itself names what else it follows from, as group 1 of <regex>, and is right as long as that is
# unchanged.
function(_cudaops_probe prefix)
  cmake_parse_arguments(
    PARSE_ARGV 1
    arg
    "MACHINE;PROGRAM"
    "KEY;MATCHALL;STREAM;TIMEOUT;DEPENDS;OF"
    "FILES;COMMAND;ENVIRONMENT"
  )
  set(key "${arg_COMMAND}|${arg_ENVIRONMENT}|${arg_MATCHALL}|${arg_KEY}")
  if(arg_PROGRAM)
    list(GET arg_COMMAND 0 program)
    if(DEFINED arg_OF)
      set(program "${arg_OF}")
    endif()
    _cudaops_answers_stamp("${program}" stamp)
    if(NOT stamp STREQUAL "")
      _cudaops_program_environment(environment)
      string(APPEND key "|${stamp}|${environment}")
      set(arg_MACHINE TRUE)
    else()
      list(APPEND arg_FILES "${program}")
    endif()
  endif()
  foreach(file IN LISTS arg_FILES)
    _cudaops_file_stamp("${file}" stamp)
    string(APPEND key "|${stamp}")
  endforeach()
  string(SHA1 key "${key}")
  set(entry "_CUDAOPS_PROBE_${key}")
  set(value "")
  if(DEFINED CACHE{${entry}})
    _cudaops_probe_value("$CACHE{${entry}}" value)
  endif()
  if(value STREQUAL "" AND arg_MACHINE)
    _cudaops_store(store)
    if(EXISTS "${store}/probes/${key}")
      file(READ "${store}/probes/${key}" text)
      string(REGEX REPLACE "^[^\n]*\n" "" answer "${text}")
      string(SHA1 digest "${answer}")
      if(text STREQUAL "${digest}\n${answer}")
        set(text "${answer}")
        _cudaops_probe_value("${text}" value)
      endif()
      if(NOT value STREQUAL "")
        set(${entry} "${text}" CACHE INTERNAL "CudaOps probe")
      endif()
    endif()
  endif()
  if(value STREQUAL "")
    string(TIMESTAMP begin "%s" UTC)
    set(timeout "")
    if(DEFINED arg_TIMEOUT)
      set(timeout TIMEOUT ${arg_TIMEOUT})
    endif()
    _cudaops_run(run ${timeout} ENVIRONMENT ${arg_ENVIRONMENT} COMMAND ${arg_COMMAND})
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
    set(text "${value}<<|>>")
    set(keeps TRUE)
    if(DEFINED arg_DEPENDS)
      set(keeps FALSE)
      if(arg_MACHINE)
        _cudaops_probe_dependencies("${run_OUTPUT}" "${arg_DEPENDS}" "${begin}" dependencies keeps)
        string(APPEND text "${dependencies}")
      endif()
    endif()
    # A failure is asked again: its cause may lie outside of FILES.
    if(keeps AND run_EXIT STREQUAL "0")
      set(${entry} "${text}" CACHE INTERNAL "CudaOps probe")
      if(arg_MACHINE)
        # A store that can't be written costs time only.
        _cudaops_use(base/store)
        string(SHA1 digest "${text}")
        _cudaops_store_text("${store}/probes" "${key}" "${digest}\n${text}" problem)
      endif()
    else()
      _cudaops_replay_spoil()
    endif()
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

# _cudaops_probe_value(<text> <out>): what is kept, without what it follows from; empty where that has changed.
function(_cudaops_probe_value text out)
  set(${out} "" PARENT_SCOPE)
  if(NOT text MATCHES "<<[|]>>.*<<[|]>>.*<<[|]>>")
    return()
  endif()
  string(FIND "${text}" "<<|>>" end REVERSE)
  math(EXPR begin "${end} + 5")
  string(SUBSTRING "${text}" ${begin} -1 stamps)
  foreach(stamp IN LISTS stamps)
    string(REGEX REPLACE ":[0-9.a-z]+(:[0-9a-f]+)?$" "" path "${stamp}")
    _cudaops_listing_stamp("${path}" now)
    if(NOT now STREQUAL stamp)
      return()
    endif()
  endforeach()
  string(SUBSTRING "${text}" 0 ${end} text)
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# _cudaops_probe_dependencies(<output> <regex> <begin> <out> <out-keeps>)
#
# Stamps of what an answer says that it follows from. Nothing can be kept that names nothing, or that was changed so
# late that the answer may be older.
function(
  _cudaops_probe_dependencies
  output
  regex
  begin
  out
  out_keeps
)
  set(${out} "" PARENT_SCOPE)
  set(${out_keeps} FALSE PARENT_SCOPE)
  string(REGEX MATCHALL "${regex}" lines "${output}")
  # SOURCE_DATE_EPOCH is the time that CMake would take for now.
  if(lines STREQUAL "" OR output MATCHES "[][;]" OR DEFINED ENV{SOURCE_DATE_EPOCH})
    return()
  endif()
  math(EXPR latest "${begin} - 2")
  set(stamps "")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "${regex}" line "${line}")
    set(path "${CMAKE_MATCH_1}")
    file(TIMESTAMP "${path}" time "%s" UTC)
    if(time AND NOT time LESS latest)
      return()
    endif()
    _cudaops_listing_stamp("${path}" stamp)
    list(APPEND stamps "${stamp}")
  endforeach()
  set(${out} "${stamps}" PARENT_SCOPE)
  set(${out_keeps} TRUE PARENT_SCOPE)
endfunction()

# _cudaops_kernel_file(<out> <file> [<regex>]): the lines of a file below /proc, or of a control group, that match (all
# but empty ones without <regex>); empty where there is no such file.
function(_cudaops_kernel_file out file)
  set(regex ".")
  if(ARGC GREATER 2)
    set(regex "${ARGV2}")
  endif()
  set(lines "")
  if(EXISTS "${file}")
    file(STRINGS "${file}" lines REGEX "${regex}" ENCODING UTF-8)
  endif()
  set(${out} "${lines}" PARENT_SCOPE)
endfunction()
