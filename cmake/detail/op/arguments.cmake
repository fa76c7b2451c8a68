# SPDX-License-Identifier: Apache-2.0
# What every command checks of its arguments before it does anything.

_cudaops_use(base/message base/state)

# _cudaops_first_argument(<out> <ARGC> <ARGV0>): the first argument of the call, or empty.
#
# ARGV0 of a call without arguments would be the one of the function around it.
function(_cudaops_first_argument out count first)
  if(count EQUAL 0)
    set(first "")
  endif()
  set(${out} "${first}" PARENT_SCOPE)
endfunction()

# _cudaops_check_variable(<command> <name> KEYWORDS <keyword>... USAGE <line>...): the variable for a command's result.
function(_cudaops_check_variable command name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "KEYWORDS;USAGE")
  if(name IN_LIST arg_KEYWORDS OR NOT name MATCHES "^[A-Za-z_][A-Za-z0-9_./+-]*$")
    _cudaops_stop(
      "${command}(): the first argument is the variable for the result."
      FACTS "found   '${name}'"
      FIX ${arg_USAGE}
    )
  endif()
endfunction()

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
  # Targets that generators make themselves. CMake refuses some of them with some generators, and says so from here.
  if(
    name
      MATCHES
      "^(all|ALL_BUILD|help|install|INSTALL|preinstall|clean|edit_cache|rebuild_cache|list_install_components|test|RUN_TESTS|package|PACKAGE|package_source|ZERO_CHECK)$"
  )
    _cudaops_stop(
      "${command}(${name}): CMake has a target of this name."
      FACTS "found   '${name}'"
      FIX "another name: my_${name}, or the like"
    )
  endif()
  if(TARGET ${name})
    get_target_property(imported ${name} IMPORTED)
    get_target_property(aliased ${name} ALIASED_TARGET)
    if(aliased)
      set(found "an alias of ${aliased}")
    elseif(imported)
      set(found "an imported target")
    else()
      get_target_property(place ${name} SOURCE_DIR)
      set(found "made in ${place}")
    endif()
    _cudaops_stop(
      "${command}(${name}): there is a target of this name already."
      FACTS "found   ${name}, ${found}"
      FIX "another name: it is the name of the file too"
    )
  endif()
endfunction()

# _cudaops_check_keywords(<command(target)> <argv> [SINGLES <keyword>...] [LISTS <keyword>...] [OPTIONS <keyword>...]
#   [MAY_BE_EMPTY <keyword>...] [REQUIRED <keyword>...] USAGE <line>...)
#
# Of the arg_* that cmake_parse_arguments() has set in the calling function. <argv> is the ARGV of the command:
# cmake_parse_arguments() tells neither a keyword that is given twice, the first time in vain, nor, before CMake 3.31, a
# value that is an empty string.
function(_cudaops_check_keywords command argv)
  cmake_parse_arguments(PARSE_ARGV 2 own "" "" "SINGLES;LISTS;OPTIONS;MAY_BE_EMPTY;REQUIRED;USAGE")
  set(keywords ${own_LISTS} ${own_SINGLES} ${own_OPTIONS})
  set(unparsed "${arg_UNPARSED_ARGUMENTS}")
  set(missing "${arg_KEYWORDS_MISSING_VALUES}")
  if(NOT unparsed STREQUAL "")
    list(GET unparsed 0 word)
    _cudaops_use(op/explain)
    _cudaops_keyword_meant("${command}" "${unparsed}" "${keywords}" suggestion elsewhere fix)
    if(suggestion)
      set(elsewhere ", did you mean ${suggestion}?")
      set(fix "")
    elseif(NOT elsewhere)
      set(elsewhere ".")
    endif()
    if(fix STREQUAL "")
      set(fix ${own_USAGE})
    endif()
    _cudaops_stop("${command}: unknown argument '${word}'${elsewhere}" FIX ${fix})
  endif()
  set(seen "")
  set(previous "")
  foreach(word IN LISTS argv)
    if(word STREQUAL "" AND NOT previous STREQUAL "")
      list(APPEND missing "${previous}")
    endif()
    set(previous "")
    if(word IN_LIST own_SINGLES OR word IN_LIST own_LISTS)
      set(previous "${word}")
    endif()
    if(word IN_LIST own_SINGLES)
      if(word IN_LIST seen)
        _cudaops_stop("${command}: ${word} is given twice." FIX ${own_USAGE})
      endif()
      list(APPEND seen "${word}")
    endif()
  endforeach()
  list(REMOVE_ITEM missing "" ${own_MAY_BE_EMPTY})
  if(NOT missing STREQUAL "")
    list(GET missing 0 word)
    _cudaops_stop("${command}: ${word} needs a value." FIX ${own_USAGE})
  endif()
  foreach(word IN LISTS own_REQUIRED)
    if("${arg_${word}}" STREQUAL "")
      set(wanted "")
      if(word STREQUAL "SOURCES")
        set(wanted "wanted  at least one file")
      endif()
      _cudaops_stop("${command}: ${word} is missing." FACTS "${wanted}" FIX ${own_USAGE})
    endif()
  endforeach()
endfunction()

# _cudaops_check_one_target(<command> <out> <ARGC> <ARGV>): a command whose only argument is a target.
function(_cudaops_check_one_target command out count arguments)
  if(NOT count EQUAL 1)
    list(JOIN arguments " " found)
    _cudaops_stop("${command}(): takes one argument, a target." FACTS "found   '${found}'" FIX "${command}(<target>)")
  endif()
  _cudaops_check_target(${command} "${arguments}" "${command}(<target>)")
  set(${out} "${arguments}" PARENT_SCOPE)
endfunction()

# _cudaops_check_target(<command> <target> <usage>): a target that is compiled in this project.
function(_cudaops_check_target command target usage)
  if(NOT TARGET "${target}")
    _cudaops_stop("${command}(${target}): the first argument is a target." FACTS "found   '${target}'" FIX "${usage}")
  endif()
  get_target_property(imported ${target} IMPORTED)
  get_target_property(aliased ${target} ALIASED_TARGET)
  get_target_property(type ${target} TYPE)
  if(aliased)
    set(type "an alias of ${aliased}")
  elseif(imported)
    set(type "an imported target")
  elseif(type MATCHES "_LIBRARY$|^EXECUTABLE$" AND NOT type STREQUAL "INTERFACE_LIBRARY")
    return()
  endif()
  _cudaops_stop(
    "${command}(${target}): the target is not one that is compiled in this project."
    FACTS "found   ${target}, ${type}" "wanted  a library or an executable"
    FIX "${usage}"
  )
endfunction()

# _cudaops_check_choice(<command(target)> <keyword> <value> <valid>...)
function(_cudaops_check_choice command keyword value)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "")
  set(valid "${arg_UNPARSED_ARGUMENTS}")
  if(value STREQUAL "" OR value IN_LIST valid)
    return()
  endif()
  list(JOIN valid " " words)
  list(GET valid 0 first)
  _cudaops_use(base/closest)
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

# _cudaops_check_sources(<command(target)> <keyword> <keywords> <out-host> <out-device> <source>...)
#
# Every source exists, or is GENERATED, or lies below a build directory, or is a generator expression. <out-device>
# takes the .cu and .hip ones. A misspelt keyword after a list keyword lands in that list: it is caught here.
function(
  _cudaops_check_sources
  command
  keyword
  keywords
  out_host
  out_device
)
  cmake_parse_arguments(PARSE_ARGV 5 arg "" "" "")
  set(host "")
  set(device "")
  foreach(source IN LISTS arg_UNPARSED_ARGUMENTS)
    string(FIND "${source}" ";" joint)
    string(REGEX REPLACE "[^[]" "" open "${source}")
    string(REGEX REPLACE "[^]]" "" close "${source}")
    string(LENGTH "${open}" open)
    string(LENGTH "${close}" close)
    string(REGEX MATCHALL "\\$<" begun "${source}")
    string(REGEX MATCHALL ">" ended "${source}")
    list(LENGTH begun begun)
    list(LENGTH ended ended)
    if(begun GREATER ended)
      _cudaops_stop(
        "${command}: ${keyword} holds a generator expression without its end."
        FACTS "found   ${source}"
        FIX "close each $< with a >, and quote an expression that holds blanks or ';'"
      )
    endif()
    if(NOT joint EQUAL -1 OR NOT open EQUAL close)
      _cudaops_stop(
        "${command}: ${keyword} holds a name that CMake's lists can't hold: no ';', and no '[' without its ']'."
        FACTS "found   ${source}"
        FIX "give the file another name"
      )
    endif()
    if(source STREQUAL "")
      continue()
    endif()
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
        "${command}: ${keyword} is a list of files, and this is a directory."
        FACTS "found   ${path}"
        FIX "list the files one by one"
      )
    endif()
    if(NOT EXISTS "${path}" AND NOT EXISTS "${built}" AND NOT generated AND NOT in_build AND NOT in_project_build)
      list(FIND arg_UNPARSED_ARGUMENTS "${source}" position)
      list(SUBLIST arg_UNPARSED_ARGUMENTS ${position} -1 rest)
      _cudaops_use(op/explain)
      _cudaops_source_missing("${command}" "${keyword}" "${keywords}" "${rest}" "${path}")
    endif()
    cmake_path(GET source EXTENSION LAST_ONLY extension)
    string(TOLOWER "${extension}" lower)
    if(NOT lower MATCHES "^\\.(c|cc|cpp|cxx|cu|cuh|h|hpp|hh|hxx|hip|inl|inc)$")
      _cudaops_stop(
        "${command}: ${keyword} doesn't accept files of this kind."
        FACTS "found   ${source}" "wanted  .c .cc .cpp .cxx .cu .hip, or headers: .h .hpp .cuh"
        FIX "leave it out, or give it one of these endings"
      )
    endif()
    if(lower MATCHES "^\\.(cu|hip)$")
      list(APPEND device "${source}")
    else()
      list(APPEND host "${source}")
    endif()
  endforeach()
  set(${out_host} "${host}" PARENT_SCOPE)
  set(${out_device} "${device}" PARENT_SCOPE)
endfunction()

# _cudaops_check_any_code(<command(target)> <what holds them> <source>...): a library of headers alone holds nothing.
function(_cudaops_check_any_code command what)
  foreach(source IN LISTS ARGN)
    if(source MATCHES "\\$<" OR NOT source MATCHES "\\.(h|hpp|hh|hxx|cuh|inl|inc)$")
      return()
    endif()
  endforeach()
  list(JOIN ARGN " " found)
  _cudaops_stop("${command}: ${what} headers only." FACTS "found   ${found}" FIX "add the .cpp or .cu files that include them")
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
  if(NOT backend STREQUAL "CPU" AND NOT DEFINED CMAKE_${backend}_COMPILE_OBJECT)
    _cudaops_state_get(MATCH_FUNCTION function)
    if(place STREQUAL CMAKE_CURRENT_SOURCE_DIR)
      _cudaops_use(match/languages)
      _cudaops_language_in_function("${command}" ${backend} "${function}")
    endif()
    _cudaops_stop(
      "${command}: ${backend} isn't enabled in this directory."
      FACTS "found   find_package(CudaTorchMatch) in ${place}" "here    ${CMAKE_CURRENT_SOURCE_DIR}"
      FIX "call find_package(CudaTorchMatch) in this directory too, or in the top-level CMakeLists.txt before add_subdirectory()"
    )
  endif()
endfunction()
