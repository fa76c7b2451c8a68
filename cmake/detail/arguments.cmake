# SPDX-License-Identifier: Apache-2.0
# What every command checks of its arguments before it does anything.

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)
# An empty value of a keyword is a value.
if(POLICY CMP0174)
  cmake_policy(SET CMP0174 NEW)
endif()

include("${CMAKE_CURRENT_LIST_DIR}/arch_grammar.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/message.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/options.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/state.cmake")

# _cudaops_check_name(<command> <name> KEYWORDS <keyword>... USAGE <line>...): the name of a target to be made.
function(_cudaops_check_name command name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "KEYWORDS;USAGE")
  if(name STREQUAL "" OR name IN_LIST arg_KEYWORDS)
    _cudaops_stop("${command}(): the first argument is the name of the target." FACTS "found   '${name}'" FIX ${arg_USAGE})
  endif()
  if(NOT name MATCHES "^[A-Za-z_][A-Za-z0-9_.+-]*$")
    _cudaops_stop(
      "${command}(${name}): not a name for a target."
      FACTS "found   '${name}'" "wanted  letters, digits, and _ . + -, beginning with a letter or _"
      FIX ${arg_USAGE}
    )
  endif()
  if(TARGET ${name})
    get_target_property(place ${name} SOURCE_DIR)
    _cudaops_stop(
      "${command}(${name}): there is a target of this name already."
      FACTS "found   ${name}, made in ${place}"
      FIX "another name: it is the name of the library too"
    )
  endif()
endfunction()

# _cudaops_check_keywords(<command(target)> UNPARSED <word>... MISSING <keyword>... KEYWORDS <keyword>... USAGE <line>...)
function(_cudaops_check_keywords command)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "UNPARSED;MISSING;KEYWORDS;USAGE")
  if(NOT "${arg_UNPARSED}" STREQUAL "")
    list(GET arg_UNPARSED 0 word)
    _cudaops_closest("${word}" "${arg_KEYWORDS}" suggestion)
    if(suggestion)
      set(suggestion ", did you mean ${suggestion}?")
    else()
      set(suggestion ".")
    endif()
    _cudaops_stop("${command}: unknown argument '${word}'${suggestion}" FIX ${arg_USAGE})
  endif()
  if(NOT "${arg_MISSING}" STREQUAL "")
    list(GET arg_MISSING 0 word)
    _cudaops_stop("${command}: ${word} needs a value." FIX ${arg_USAGE})
  endif()
endfunction()

# _cudaops_check_choice(<command(target)> <keyword> <value> <valid>...)
function(_cudaops_check_choice command keyword value)
  set(valid "${ARGN}")
  if(value STREQUAL "" OR value IN_LIST valid)
    return()
  endif()
  list(JOIN valid " " words)
  list(GET valid 0 first)
  _cudaops_closest("${value}" "${valid}" suggestion)
  if(suggestion)
    set(first "${suggestion}")
    set(suggestion ", did you mean ${suggestion}?")
  else()
    set(suggestion ".")
  endif()
  _cudaops_stop(
    "${command}: unknown ${keyword} '${value}'${suggestion}"
    FACTS "wanted  ${words}"
    FIX "${keyword} ${first}"
  )
endfunction()

# _cudaops_check_architectures(<command(target)> <keywords> <arch>...): spelling only; the toolkit is asked later.
function(_cudaops_check_architectures command keywords)
  set(text "${ARGN}")
  if(text STREQUAL "")
    return()
  endif()
  _cudaops_arch_parse_filter("${text}" entries error)
  if(error)
    set(hint "")
    string(REGEX MATCH "\"([^\"]*)\"" ignored "${error}")
    if(CMAKE_MATCH_1 MATCHES "^[A-Za-z_]+$")
      _cudaops_closest("${CMAKE_MATCH_1}" "${keywords}" suggestion)
      if(suggestion)
        set(hint "Did you mean the keyword ${suggestion}?")
      endif()
    endif()
    list(JOIN text " " found)
    _cudaops_arch_accepted(accepted)
    _cudaops_stop(
      "${command}: ${error}"
      FACTS "found     ARCHITECTURES ${found}" "accepted  ${accepted}" "${hint}"
      FIX "ARCHITECTURES 80 90a, or the like"
    )
  endif()
endfunction()

# _cudaops_check_sources(<command(target)> <keyword> <keywords> <out-host> <out-device> <source>...)
#
# Every source exists, or is GENERATED, or lies below a build directory, or is a generator expression. <out-device>
# takes the .cu ones. A misspelt keyword after a list keyword lands in that list: it is caught here.
function(_cudaops_check_sources command keyword keywords out_host out_device)
  cmake_parse_arguments(PARSE_ARGV 5 arg "" "" "")
  set(host "")
  set(device "")
  foreach(source IN LISTS arg_UNPARSED_ARGUMENTS)
    if(source MATCHES "\\$<")
      list(APPEND host "${source}")
      continue()
    endif()
    cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE path)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" NORMALIZE OUTPUT_VARIABLE built)
    get_source_file_property(generated "${source}" GENERATED)
    cmake_path(IS_PREFIX CMAKE_CURRENT_BINARY_DIR "${path}" NORMALIZE in_build)
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR "${path}" NORMALIZE in_project_build)
    # In an in-source build everything lies below the build directory.
    if(CMAKE_CURRENT_BINARY_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)
      set(in_build FALSE)
      set(in_project_build FALSE)
    endif()
    if(IS_DIRECTORY "${path}")
      _cudaops_stop(
        "${command}: ${keyword} takes files, and this is a directory."
        FACTS "found   ${path}"
        FIX "list the files one by one"
      )
    endif()
    if(NOT EXISTS "${path}" AND NOT EXISTS "${built}" AND NOT generated AND NOT in_build AND NOT in_project_build)
      _cudaops_source_missing("${command}" "${keyword}" "${keywords}" "${source}" "${path}")
    endif()
    cmake_path(GET source EXTENSION LAST_ONLY extension)
    string(TOLOWER "${extension}" lower)
    if(NOT lower MATCHES "^\\.(c|cc|cpp|cxx|cu|cuh|h|hpp|hh|hxx|hip|inl|inc)$")
      _cudaops_stop(
        "${command}: ${keyword} doesn't take files of this kind."
        FACTS "found   ${source}" "wanted  .c .cc .cpp .cxx .cu .hip, or headers: .h .hpp .cuh"
        FIX "leave it out, or give it one of these endings"
      )
    endif()
    if(lower STREQUAL ".cu")
      list(APPEND device "${source}")
    elseif(NOT lower STREQUAL ".hip")
      list(APPEND host "${source}")
    endif()
  endforeach()
  set(${out_host} "${host}" PARENT_SCOPE)
  set(${out_device} "${device}" PARENT_SCOPE)
endfunction()

function(_cudaops_source_missing command keyword keywords source path)
  set(hint "")
  set(fix "the right name, or add the command that generates it before this call (its OUTPUT counts)")
  if(source MATCHES "^[A-Za-z_]+$")
    _cudaops_closest("${source}" "${keywords}" suggestion)
    if(suggestion)
      _cudaops_stop(
        "${command}: ${keyword} holds '${source}', which is no file; did you mean ${suggestion}?"
        FACTS "found   ${source} (in the list of ${keyword})" "wanted  a file, or one of: ${keywords}"
        FIX "${suggestion} <value>"
      )
    endif()
  endif()
  cmake_path(GET path PARENT_PATH directory)
  cmake_path(GET path FILENAME name)
  file(GLOB here RELATIVE "${directory}" "${directory}/*")
  _cudaops_closest("${name}" "${here}" suggestion)
  if(suggestion)
    set(hint "there is ${directory}/${suggestion}")
  endif()
  _cudaops_stop(
    "${command}: ${keyword} names a file that doesn't exist."
    FACTS "found   ${source}" "looked  ${path}" "${hint}"
    FIX "${fix}"
  )
endfunction()

# _cudaops_check_match(<command(target)>): the match exists and this directory knows the language.
function(_cudaops_check_match command)
  _cudaops_state_get(MATCH_PLACE place)
  if(place STREQUAL "")
    _cudaops_stop(
      "${command}: no torch and no toolkit have been looked for yet."
      FACTS "wanted  find_package(CudaTorchMatch) before this call, in the top-level CMakeLists.txt"
      FIX "find_package(CudaTorchMatch REQUIRED)"
    )
  endif()
  _cudaops_state_get(BACKEND backend)
  if(backend STREQUAL "CUDA" AND NOT DEFINED CMAKE_CUDA_COMPILE_OBJECT)
    _cudaops_stop(
      "${command}: CUDA isn't enabled in this directory."
      FACTS "found   find_package(CudaTorchMatch) in ${place}" "here    ${CMAKE_CURRENT_SOURCE_DIR}"
      FIX "call find_package(CudaTorchMatch) in this directory too, or in the top-level CMakeLists.txt before add_subdirectory()"
    )
  endif()
endfunction()
