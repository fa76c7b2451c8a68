# SPDX-License-Identifier: Apache-2.0
# What every command checks of its arguments before it does anything.

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)
# An empty value of a keyword is a value.
if(POLICY CMP0174)
  cmake_policy(SET CMP0174 NEW)
endif()

if(NOT COMMAND _cudaops_use)
  include("${CMAKE_CURRENT_LIST_DIR}/../base/use.cmake")
endif()
_cudaops_use(arch/grammar base/message base/options base/paths base/state)

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
      "${command}(${name}): this name belongs to a target of CMake's own."
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

# _cudaops_check_keywords(<command(target)> <argv> <unparsed> <missing> [SINGLES <keyword>...] [LISTS <keyword>...]
#   [MAY_BE_EMPTY <keyword>...] [OPTIONS <keyword>...] USAGE <line>...)
#
# <unparsed> and <missing> are what cmake_parse_arguments() says, <argv> is the caller's ARGV: cmake_parse_arguments()
# tells neither a keyword that is given twice, the first time in vain, nor, before CMake 3.31, a value that is an empty
# string. One argument each: a user's word may be one of our keywords.
function(_cudaops_check_keywords command argv unparsed missing)
  cmake_parse_arguments(PARSE_ARGV 4 arg "" "" "SINGLES;LISTS;MAY_BE_EMPTY;OPTIONS;USAGE")
  set(keywords ${arg_LISTS} ${arg_SINGLES} ${arg_OPTIONS})
  if(NOT unparsed STREQUAL "")
    list(GET unparsed 0 word)
    _cudaops_keyword_meant("${command}" "${unparsed}" "${keywords}" suggestion elsewhere fix)
    if(suggestion)
      set(elsewhere ", did you mean ${suggestion}?")
      set(fix "")
    elseif(NOT elsewhere)
      set(elsewhere ".")
    endif()
    if(fix STREQUAL "")
      set(fix ${arg_USAGE})
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
    if(word IN_LIST arg_SINGLES OR word IN_LIST arg_LISTS)
      set(previous "${word}")
    endif()
    if(word IN_LIST arg_SINGLES)
      if(word IN_LIST seen)
        _cudaops_stop("${command}: ${word} is given twice." FIX ${arg_USAGE})
      endif()
      list(APPEND seen "${word}")
    endif()
  endforeach()
  list(REMOVE_ITEM missing "" ${arg_MAY_BE_EMPTY})
  if(NOT missing STREQUAL "")
    list(GET missing 0 word)
    _cudaops_stop("${command}: ${word} needs a value." FIX ${arg_USAGE})
  endif()
endfunction()

# _cudaops_keyword_meant(<command(target)> <arguments> <keywords> <out-keyword> <out-elsewhere> <out-fix>)
#
# What the first of <arguments>, which is none of <keywords>, was meant as, by its spelling or by what it is about in the
# words of CMake, setup.py and cpp_extension.load(): one of the keywords; or what a command of CMake's says of the
# target, as the end of a sentence and as a line to paste, with the arguments that follow it. All may be empty.
function(
  _cudaops_keyword_meant
  command
  arguments
  keywords
  out_keyword
  out_elsewhere
  out_fix
)
  set(keyword "")
  set(elsewhere "")
  set(fix "")
  list(POP_FRONT arguments word)
  _cudaops_closest("${word}" "${keywords}" keyword)
  string(TOUPPER "${word}" upper)
  if(keyword STREQUAL "" AND upper MATCHES "^[A-Z][A-Z_]+$")
    set(own "")
    set(what "")
    if(upper MATCHES "(LINK|LD).*(FLAG|OPTION|ARG)")
      set(what "link options" target_link_options "<option>")
    elseif(upper MATCHES "(LIB|LINK).*(DIR|PATH)")
      set(what "directories of libraries" target_link_directories "<dir>")
    elseif(upper MATCHES "^INC|INCLUDE")
      set(own INCLUDE_DIRECTORIES)
      set(what "include directories" target_include_directories "<dir>")
    elseif(upper MATCHES "ARCH|GENCODE|COMPUTE_CAP")
      set(own ARCHITECTURES)
    elseif(upper MATCHES "DEFIN|MACRO")
      set(what "macros" target_compile_definitions "<macro>=<value>")
    elseif(upper MATCHES "(^|_)STD($|_)|STANDARD|FEATURE")
      set(what "C++ standards" target_compile_features cxx_std_20)
      if(upper MATCHES "CUDA|NVCC")
        set(what "C++ standards" target_compile_features cuda_std_20)
      endif()
      set(arguments "")
    elseif(upper MATCHES "FLAG|OPTION|OPTS|ARGS|NVCC")
      set(own ARGS)
      set(what "compile options" target_compile_options "<option>")
    elseif(upper MATCHES "LIB|LINK|DEPEND")
      set(own LINK_LIBRARIES)
      set(what "libraries" target_link_libraries "<library>")
    elseif(upper MATCHES "SOURCE|SRC")
      set(own SOURCES)
      if(upper MATCHES "CU|NVCC|GPU|DEVICE" AND "CUDA_SOURCES" IN_LIST keywords)
        set(own CUDA_SOURCES)
      endif()
    elseif(upper MATCHES "MODULE")
      set(own PYTHON_MODULE)
    elseif(upper MATCHES "INSTALL|DESTINATION")
      set(own INSTALL)
    endif()
    # These make a target, or take one; the others make variables and tests.
    set(target "")
    if(
      command
        MATCHES
        "^(add_torch_op|cudaops_add_kernels|cudaops_add_gtest|cudaops_add_benchmark|cudaops_target_[a-z_]+)\\((.+)\\)$"
    )
      set(target "${CMAKE_MATCH_2}")
    endif()
    if(own IN_LIST keywords)
      set(keyword ${own})
    elseif(what AND target)
      list(POP_FRONT what name to placeholder)
      set(values "")
      foreach(value IN LISTS arguments)
        if(value MATCHES "^[A-Z][A-Z_]+$")
          break()
        endif()
        list(APPEND values "${value}")
      endforeach()
      if(values STREQUAL "")
        set(values "${placeholder}")
      endif()
      if(to STREQUAL "target_compile_options" AND upper MATCHES "CUDA|NVCC|HIP|CXX|CPP")
        string(REGEX REPLACE "^.*(CUDA|NVCC|HIP|CXX|CPP).*$" "\\1" language "${upper}")
        string(REPLACE "NVCC" "CUDA" language "${language}")
        string(REPLACE "CPP" "CXX" language "${language}")
        set(values "\"$<$<COMPILE_LANGUAGE:${language}>:${values}>\"")
      else()
        list(JOIN values " " values)
      endif()
      set(elsewhere ": ${name} go to ${to}().")
      set(fix "${to}(${target} PRIVATE ${values})")
    endif()
  endif()
  set(${out_keyword} "${keyword}" PARENT_SCOPE)
  set(${out_elsewhere} "${elsewhere}" PARENT_SCOPE)
  set(${out_fix} "${fix}" PARENT_SCOPE)
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
  # With PARSE_ARGV a quoted "8.0;9.0" would keep its semicolon escaped.
  set(text "${ARGN}")
  # Whether a name of AMD's is one is the compiler's to say.
  list(FILTER text EXCLUDE REGEX "^gfx[0-9]")
  if(text STREQUAL "")
    return()
  endif()
  _cudaops_arch_parse_filter("${text}" entries error meant)
  if(error)
    set(hint "")
    string(REGEX MATCH "\"([^\"]*)\"" ignored "${error}")
    set(word "${CMAKE_MATCH_1}")
    string(REPLACE ";" " " found "${text}")
    set(fix "ARCHITECTURES 80 90a, or the like")
    if(word MATCHES "^[A-Za-z_]+$")
      list(FIND text "${word}" position)
      list(SUBLIST text ${position} -1 rest)
      _cudaops_keyword_meant("${command}" "${rest}" "${keywords}" suggestion elsewhere other)
      if(suggestion)
        set(hint "keyword   ${suggestion} looks like it")
      elseif(elsewhere)
        string(REGEX REPLACE "\\.$" "${elsewhere}" error "${error}")
        set(fix "${other}")
      endif()
    endif()
    if(NOT meant STREQUAL "")
      list(JOIN meant " " meant)
      set(fix "ARCHITECTURES ${meant}")
    endif()
    _cudaops_arch_accepted(accepted TRUE)
    _cudaops_stop(
      "${command}: ${error}"
      FACTS "found     ARCHITECTURES ${found}" "accepted  ${accepted}" "${hint}"
      FIX "${fix}"
    )
  endif()
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
        "${command}: ${keyword} takes files, and this is a directory."
        FACTS "found   ${path}"
        FIX "list the files one by one"
      )
    endif()
    if(NOT EXISTS "${path}" AND NOT EXISTS "${built}" AND NOT generated AND NOT in_build AND NOT in_project_build)
      list(FIND arg_UNPARSED_ARGUMENTS "${source}" position)
      list(SUBLIST arg_UNPARSED_ARGUMENTS ${position} -1 rest)
      _cudaops_source_missing("${command}" "${keyword}" "${keywords}" "${rest}" "${path}")
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

# _cudaops_source_missing(<command(target)> <keyword> <keywords> <source and what follows it> <path>)
function(
  _cudaops_source_missing
  command
  keyword
  keywords
  sources
  path
)
  list(GET sources 0 source)
  if(source MATCHES "^[A-Za-z_]+$")
    _cudaops_keyword_meant("${command}" "${sources}" "${keywords}" suggestion elsewhere fix)
    set(hint ".")
    if(suggestion)
      set(hint "; did you mean ${suggestion}?")
      set(fix "${suggestion}   (instead of ${source})")
    elseif(elsewhere)
      set(hint "${elsewhere}")
    else()
      set(fix "the name of a file, or a keyword")
    endif()
    # A keyword that is far off: nobody names a source file in capitals, and without an ending.
    if(suggestion OR elsewhere OR source MATCHES "^[A-Z_]+$")
      list(JOIN keywords " " words)
      _cudaops_stop(
        "${command}: ${keyword} holds '${source}', which is no file${hint}"
        FACTS "looked  ${path}" "wanted  a file, or one of ${words}"
        FIX "${fix}"
      )
    endif()
  endif()
  set(hint "")
  cmake_path(GET path PARENT_PATH directory)
  cmake_path(GET path FILENAME name)
  _cudaops_glob_in(in "${directory}")
  file(GLOB here RELATIVE "${directory}" "${in}/*")
  _cudaops_closest("${name}" "${here}" suggestion)
  if(suggestion)
    set(hint "there is ${directory}/${suggestion}")
  endif()
  _cudaops_stop(
    "${command}: ${keyword} names a file that doesn't exist."
    FACTS "found   ${source}" "looked  ${path}" "${hint}"
    FIX "the right name, or add the command that generates it before this call (its OUTPUT counts)"
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
