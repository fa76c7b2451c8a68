# SPDX-License-Identifier: Apache-2.0
# Where the translations to HIP are, the commands that make them, and what a target compiles instead of its sources.

_cudaops_use(base/message base/paths base/programs base/state hipify/translator)

# _cudaops_hipify_places(<prefix> <mirror> SOURCES <file>... INCLUDES <dir>... OUTSIDE <dir>...)
#
# Sets <prefix>_ROOTS (directories whose files are translated), <prefix>_MIRRORS (where to, a list of the same length)
# and <prefix>_OUTSIDE (directories inside of a root that are left alone). All paths are absolute and normal.
function(_cudaops_hipify_places prefix mirror)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES;INCLUDES;OUTSIDE")
  set(roots "${PROJECT_SOURCE_DIR}")
  set(mirrors "${mirror}")
  # What the build makes keeps apart from what the project holds: the same relative path may be in both.
  set(number "")
  foreach(directory IN ITEMS "${PROJECT_BINARY_DIR}" "${CMAKE_CURRENT_BINARY_DIR}")
    _cudaops_hipify_below("${directory}" within "${PROJECT_BINARY_DIR}")
    if(NOT directory IN_LIST roots AND (directory STREQUAL PROJECT_BINARY_DIR OR NOT within))
      list(APPEND roots "${directory}")
      list(APPEND mirrors "${mirror}/.generated${number}")
      set(number 2)
    endif()
  endforeach()
  set(outside "${arg_OUTSIDE}" "${PROJECT_BINARY_DIR}/_deps")
  if(FETCHCONTENT_BASE_DIR)
    list(APPEND outside "${FETCHCONTENT_BASE_DIR}")
  endif()
  # What is translated already stays as it is.
  _cudaops_state_get(HIPIFY_MIRRORS others)
  foreach(path IN LISTS arg_SOURCES arg_INCLUDES)
    foreach(other IN LISTS others)
      _cudaops_hipify_below("${path}" translated "${other}")
      if(translated)
        list(APPEND outside "${other}")
      endif()
    endforeach()
  endforeach()
  # A directory that holds a source of ours and lies elsewhere is as good as the project's.
  set(number 0)
  # Parts of generator expressions are known to CMake later.
  list(FILTER arg_INCLUDES EXCLUDE REGEX "\\$<|>")
  _cudaops_hipify_absolute(arg_INCLUDES ${arg_INCLUDES})
  foreach(directory IN LISTS arg_INCLUDES)
    _cudaops_hipify_below("${directory}" known ${roots})
    if(known OR directory IN_LIST outside)
      continue()
    endif()
    foreach(source IN LISTS arg_SOURCES)
      _cudaops_hipify_below("${source}" holds "${directory}")
      _cudaops_hipify_below("${source}" known ${roots})
      if(holds AND NOT known)
        math(EXPR number "${number} + 1")
        list(APPEND roots "${directory}")
        list(APPEND mirrors "${mirror}/.elsewhere${number}")
        break()
      endif()
    endforeach()
  endforeach()
  list(REMOVE_ITEM outside ${roots})
  list(REMOVE_DUPLICATES outside)
  set(${prefix}_ROOTS "${roots}" PARENT_SCOPE)
  set(${prefix}_MIRRORS "${mirrors}" PARENT_SCOPE)
  set(${prefix}_OUTSIDE "${outside}" PARENT_SCOPE)
endfunction()

# _cudaops_hipify_below(<path> <out> <directory>...): whether <path> is one of the directories or lies below one.
function(_cudaops_hipify_below path out)
  set(${out} FALSE PARENT_SCOPE)
  foreach(directory IN LISTS ARGN)
    cmake_path(IS_PREFIX directory "${path}" is_prefix)
    if(is_prefix)
      set(${out} TRUE PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# _cudaops_hipify_mirror_of(<prefix> <path> <out>)
#
# Where the translation of <path> lies, or empty. The deepest directory that holds it decides, as in cudaops/hipify.py.
function(_cudaops_hipify_mirror_of prefix path out)
  set(best "")
  set(best_length -1)
  foreach(root mirror IN ZIP_LISTS ${prefix}_ROOTS ${prefix}_MIRRORS)
    cmake_path(IS_PREFIX root "${path}" is_prefix)
    string(LENGTH "${root}" length)
    if(is_prefix AND length GREATER best_length)
      set(best_length ${length})
      cmake_path(RELATIVE_PATH path BASE_DIRECTORY "${root}" OUTPUT_VARIABLE relative)
      cmake_path(APPEND mirror "${relative}" OUTPUT_VARIABLE best)
      cmake_path(NORMAL_PATH best)
      string(REGEX REPLACE "/$" "" best "${best}")
    endif()
  endforeach()
  foreach(directory IN LISTS ${prefix}_OUTSIDE)
    cmake_path(IS_PREFIX directory "${path}" is_prefix)
    string(LENGTH "${directory}" length)
    if(is_prefix AND length GREATER best_length)
      set(best_length ${length})
      set(best "")
    endif()
  endforeach()
  set(${out} "${best}" PARENT_SCOPE)
endfunction()

# _cudaops_hipify_forget(<prefix> <file>...): removes what was translated of these before they were not to be. A mirror
# comes first among the include directories.
function(_cudaops_hipify_forget prefix)
  list(REMOVE_ITEM ${prefix}_OUTSIDE ${ARGN})
  foreach(file IN LISTS ARGN)
    _cudaops_hipify_mirror_of(${prefix} "${file}" old)
    if(old)
      file(REMOVE "${old}")
    endif()
  endforeach()
endfunction()

# _cudaops_hipify_settings(<prefix> <mirror> <out-file> TEXT <line>... [TARGET <target>])
#
# Writes what cudaops/hipify.py reads: places and translator, then TEXT, whose generator expressions CMake evaluates. The
# name holds a hash of what is written here: other include directories are another command. $<COMPILE_LANGUAGE> in the
# name stands for the language of a translation.
function(_cudaops_hipify_settings prefix mirror out)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "TEXT;TARGET" "")
  _cudaops_state_get(HIPIFY_KIND kind)
  _cudaops_state_get(HIPIFY_PATH path)
  set(text "mirror\t${mirror}\n")
  string(APPEND text "base\t${CMAKE_CURRENT_SOURCE_DIR}\n")
  string(APPEND text "translator\t${kind}\t${path}\n")
  string(APPEND text "cache\t${PROJECT_BINARY_DIR}/CMakeFiles/cudaops/hipify\n")
  foreach(root place IN ZIP_LISTS ${prefix}_ROOTS ${prefix}_MIRRORS)
    cmake_path(RELATIVE_PATH place BASE_DIRECTORY "${mirror}")
    if(place STREQUAL ".")
      set(place "")
    endif()
    string(APPEND text "root\t${place}\t${root}\n")
  endforeach()
  foreach(directory IN LISTS ${prefix}_OUTSIDE)
    string(APPEND text "outside\t${directory}\n")
  endforeach()
  string(APPEND text "${arg_TEXT}")
  string(SHA1 hash "${text}")
  string(SUBSTRING "${hash}" 0 12 hash)
  # Not in the mirror: whoever removes a mirror gets it again from the next build.
  set(file "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/cudaops/hipify-${hash}")
  if(text MATCHES "\\$<")
    string(APPEND file "-$<COMPILE_LANGUAGE>")
    if(CMAKE_CONFIGURATION_TYPES)
      string(APPEND file "-$<CONFIG>")
    endif()
    set(target "")
    if(DEFINED arg_TARGET)
      set(target TARGET ${arg_TARGET})
    endif()
    _cudaops_state_get(HIPIFY_SETTINGS known)
    if(NOT "${file}" IN_LIST known)
      _cudaops_state_append(HIPIFY_SETTINGS "${file}")
      file(GENERATE OUTPUT "${file}" CONTENT "${text}" ${target})
    endif()
  else()
    file(CONFIGURE OUTPUT "${file}" CONTENT "@text@" @ONLY)
  endif()
  set(${out} "${file}" PARENT_SCOPE)
endfunction()

# _cudaops_hipify_lines(<out> <word> <directory>...): a line of the settings for each directory, before which <word> is put.
function(_cudaops_hipify_lines out word)
  set(text "")
  if("${ARGN}" MATCHES "\\$<")
    # Not by element: an expression may hold several, with semicolons between.
    set(text "evaluated\t${word}\t$<JOIN:$<1:${ARGN}>,\nevaluated\t${word}\t>\n")
  else()
    foreach(directory IN LISTS ARGN)
      string(APPEND text "${word}\t${directory}\n")
    endforeach()
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# _cudaops_hipify_command(<settings> <source> <translation> <mirror>): the command for one source. Its LANGUAGE is known.
function(_cudaops_hipify_command settings source output mirror)
  _cudaops_state_get(HIPIFY_PYTHON python)
  _cudaops_state_get(HIPIFY_FILES files)
  get_property(language SOURCE "${output}" PROPERTY LANGUAGE)
  if(language STREQUAL "")
    set(language CXX)
    if(output MATCHES "\\.c$")
      set(language C)
    endif()
  endif()
  string(REPLACE "$<COMPILE_LANGUAGE>" "${language}" settings "${settings}")
  _cudaops_python_command(command "${python}" hipify)
  _cudaops_python_package(package)
  set(modules hipify.py includes.py store.py translators.py)
  list(TRANSFORM modules PREPEND "${package}/")
  cmake_path(RELATIVE_PATH output BASE_DIRECTORY "${mirror}" OUTPUT_VARIABLE relative)
  set(depfile "${mirror}/.hipify/depfiles/${relative}.d")
  set(headers DEPFILE "${depfile}")
  set(directory "")
  if(CMAKE_VERSION VERSION_LESS 3.28 AND CMAKE_GENERATOR MATCHES "Makefiles")
    _cudaops_top_directories(ignored build)
    cmake_path(RELATIVE_PATH CMAKE_CURRENT_BINARY_DIR BASE_DIRECTORY "${build}" OUTPUT_VARIABLE directory)
  endif()
  if(directory MATCHES " ")
    # Make's paths are relative to the top of the build, and there a DEPFILE ends in "No rule to make target
    # 'a\ b/CMakeFiles/…'". The command runs in each build; it writes nothing where nothing is newer.
    set(always "${mirror}/.hipify/always")
    get_source_file_property(known "${always}" SYMBOLIC)
    if(NOT known)
      add_custom_command(OUTPUT "${always}" COMMAND "${CMAKE_COMMAND}" -E true COMMENT "" VERBATIM)
      set_source_files_properties("${always}" PROPERTIES SYMBOLIC TRUE)
    endif()
    set(headers DEPENDS "${always}")
  endif()
  add_custom_command(
    OUTPUT "${output}"
    COMMAND ${command} "${settings}" "${source}" "${output}" "${depfile}"
    DEPENDS "${source}" ${modules} "${settings}" ${files} ${headers}
    COMMENT "Translating to HIP: ${relative}"
    VERBATIM
  )
endfunction()

# _cudaops_hipify_is_source(<file> <out>): whether a compiler is given this kind of file.
function(_cudaops_hipify_is_source file out)
  set(${out} FALSE PARENT_SCOPE)
  if(file MATCHES "\\.(cu|hip|c|cc|cpp|cxx)$")
    set(${out} TRUE PARENT_SCOPE)
  endif()
endfunction()

# _cudaops_hipify_language(<source> <translation>): what compiles the translation.
#
# An explicit LANGUAGE wins, the translation's before the source's. CMake reads what an ending says as if it were set: so
# what is read is explicit where it is neither that nor what the first call, of hipify_sources(), has set.
function(_cudaops_hipify_language source output)
  set_source_files_properties("${output}" PROPERTIES GENERATED TRUE)
  _cudaops_hipify_language_of("${source}" language)
  get_property(ours SOURCE "${output}" PROPERTY _CUDAOPS_HIPIFY_LANGUAGE)
  _cudaops_hipify_explicit("${output}" found)
  if(ours)
    get_property(found SOURCE "${output}" PROPERTY LANGUAGE)
    if(found STREQUAL ours)
      set(found "")
    endif()
  endif()
  if(found STREQUAL "" AND NOT "${language}" STREQUAL "${ours}")
    set_property(SOURCE "${output}" PROPERTY LANGUAGE ${language})
    set_property(SOURCE "${output}" PROPERTY _CUDAOPS_HIPIFY_LANGUAGE ${language})
  endif()
endfunction()

# _cudaops_hipify_language_of(<source> <out>): the LANGUAGE that it needs as HIP, or empty.
function(_cudaops_hipify_language_of source out)
  _cudaops_hipify_explicit("${source}" language)
  if(language STREQUAL "CUDA" OR (language STREQUAL "" AND source MATCHES "\\.(cu|hip)$"))
    set(language HIP)
  endif()
  set(${out} "${language}" PARENT_SCOPE)
endfunction()

# _cudaops_hipify_explicit(<file> <out>): its LANGUAGE, or empty where that is what the ending says.
function(_cudaops_hipify_explicit file out)
  get_property(language SOURCE "${file}" PROPERTY LANGUAGE)
  if(
    (file MATCHES "\\.cu$" AND language STREQUAL "CUDA")
    OR (file MATCHES "\\.hip$" AND language STREQUAL "HIP")
    OR (file MATCHES "\\.c$" AND language STREQUAL "C")
    OR (file MATCHES "\\.c[cpx][px]?$" AND language STREQUAL "CXX")
  )
    set(language "")
  endif()
  set(${out} "${language}" PARENT_SCOPE)
endfunction()

# _cudaops_hipify_skip(<source> <out>): whether it is compiled as it stands. Then it has the language of a translation.
function(_cudaops_hipify_skip source out)
  get_property(skip SOURCE "${source}" PROPERTY CUDAOPS_SKIP_HIPIFY)
  if(skip)
    _cudaops_hipify_untranslated("${source}")
    set(skip TRUE)
  else()
    set(skip FALSE)
  endif()
  set(${out} ${skip} PARENT_SCOPE)
endfunction()

function(_cudaops_hipify_untranslated source)
  _cudaops_hipify_is_source("${source}" is_source)
  if(is_source)
    _cudaops_hipify_language_of("${source}" language)
    if(language)
      set_property(SOURCE "${source}" PROPERTY LANGUAGE ${language})
    endif()
  endif()
endfunction()

# _cudaops_hipify_properties(<prefix> <source as given> <translation>): what is said of a source holds for its
# translation.
function(_cudaops_hipify_properties prefix source output)
  set(
    names
    COMPILE_DEFINITIONS
    COMPILE_FLAGS
    COMPILE_OPTIONS
    CXX_SCAN_FOR_MODULES
    LABELS
    OBJECT_DEPENDS
    OBJECT_OUTPUTS
    SKIP_LINTING
    SKIP_PRECOMPILE_HEADERS
    SKIP_UNITY_BUILD_INCLUSION
    UNITY_GROUP
  )
  foreach(config IN LISTS CMAKE_CONFIGURATION_TYPES CMAKE_BUILD_TYPE)
    string(TOUPPER "${config}" config)
    list(APPEND names COMPILE_DEFINITIONS_${config})
  endforeach()
  foreach(name IN LISTS names)
    get_property(is_set SOURCE "${source}" PROPERTY ${name} SET)
    if(is_set)
      get_property(value SOURCE "${source}" PROPERTY ${name})
      set_property(SOURCE "${output}" PROPERTY ${name} "${value}")
    endif()
  endforeach()
  get_property(directories SOURCE "${source}" PROPERTY INCLUDE_DIRECTORIES)
  if(directories)
    _cudaops_hipify_absolute(absolute ${directories})
    _cudaops_hipify_mirrors(${prefix} mirrors ${absolute})
    set_property(SOURCE "${output}" PROPERTY INCLUDE_DIRECTORIES ${mirrors} ${directories})
  endif()
  _cudaops_hipify_language("${source}" "${output}")
endfunction()

# _cudaops_hipify_mirrors(<prefix> <out> <dir>...): the mirrors of those of the directories that have one. Of generator
# expressions, which CMake evaluates later, it is such expressions.
function(_cudaops_hipify_mirrors prefix out)
  set(mirrors "")
  if("${ARGN}" MATCHES "\\$<")
    _cudaops_hipify_mirror_expression(${prefix} mirrors "$<1:${ARGN}>")
  else()
    foreach(directory IN LISTS ARGN)
      _cudaops_hipify_mirror_of(${prefix} "${directory}" mirror)
      if(mirror)
        list(APPEND mirrors "${mirror}")
      endif()
    endforeach()
    list(REMOVE_DUPLICATES mirrors)
    # A compiler may warn of an include directory that isn't there.
    if(mirrors)
      file(MAKE_DIRECTORY ${mirrors})
    endif()
  endif()
  set(${out} "${mirrors}" PARENT_SCOPE)
endfunction()

# _cudaops_hipify_mirror_expression(<prefix> <out> <expression>)
#
# The mirrors of those directories of a generator expression that are below the project's source directory. CMake 3.25
# evaluates no function for each element of a list, but it evaluates a text twice ($<GENEX_EVAL>): the first time $<JOIN>
# puts $<PATH:...> around each directory. <expression> may stand there once only: within one evaluation CMake gives what a
# target requires of its users a single time. So the other roots have no mirrors here, nor have directories with what
# separates in expressions; cudaops/hipify.py makes #include lines lead to their headers.
function(_cudaops_hipify_mirror_expression prefix out expression)
  list(GET ${prefix}_ROOTS 0 root)
  list(GET ${prefix}_MIRRORS 0 mirror)
  set(${out} "" PARENT_SCOPE)
  if("${root}${mirror}" MATCHES "[,<>]")
    return()
  endif()
  # What the second evaluation sees: $<PATH:ABSOLUTE_PATH,NORMALIZE,$<PATH:RELATIVE_PATH,<directory>,<root>>,<mirror>>
  set(begin "$$<1:<>PATH:ABSOLUTE_PATH$<COMMA>NORMALIZE$<COMMA>$$<1:<>PATH:RELATIVE_PATH$<COMMA>")
  set(end "$<COMMA>${root}$<ANGLE-R>$<COMMA>${mirror}$<ANGLE-R>")
  # The / is below no root: an empty list would give the mirror itself.
  set(directories "$<FILTER:/;${expression},EXCLUDE,[$<COMMA><$<ANGLE-R>]>")
  set(directories "$<JOIN:${directories},${end}$<SEMICOLON>${begin}>")
  string(REGEX REPLACE "([][+.*()^$?|\\\\])" "\\\\\\1" regex "${mirror}")
  set(${out} "$<FILTER:$<GENEX_EVAL:${begin}${directories}${end}>,INCLUDE,^${regex}(/|$)>" PARENT_SCOPE)
endfunction()

# _cudaops_hipify_absolute(<out> <dir>...): the directories, absolute and normal; generator expressions as they are.
function(_cudaops_hipify_absolute out)
  set(result "${ARGN}")
  if(NOT "${ARGN}" MATCHES "\\$<")
    set(result "")
    foreach(directory IN LISTS ARGN)
      cmake_path(ABSOLUTE_PATH directory BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
      string(REGEX REPLACE "(.)/$" "\\1" directory "${directory}")
      list(APPEND result "${directory}")
    endforeach()
    list(REMOVE_DUPLICATES result)
  endif()
  set(${out} "${result}" PARENT_SCOPE)
endfunction()

# _cudaops_hipify_path(<source> <directory> <out>): the file that a source's name means, or empty where CMake has to say.
function(_cudaops_hipify_path source out)
  cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE OUTPUT_VARIABLE path)
  if(NOT EXISTS "${path}" AND NOT IS_ABSOLUTE "${source}")
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" NORMALIZE OUTPUT_VARIABLE built)
    get_source_file_property(here "${path}" GENERATED)
    if(NOT here)
      set(path "${built}")
    endif()
  endif()
  set(${out} "${path}" PARENT_SCOPE)
endfunction()

# _cudaops_hipify_finish(<command> <mirror> <sources> <includes> <skipped>): the second half of hipify_sources(), at the
# end of the directory, when everything is said of the sources.
function(
  _cudaops_hipify_finish
  command
  mirror
  sources
  includes
  skipped
)
  _cudaops_hipify_lines(text include ${includes})
  set(paths "")
  foreach(source IN LISTS sources)
    _cudaops_hipify_skip("${source}" skip)
    if(skip)
      _cudaops_stop(
        "${command}: CUDAOPS_SKIP_HIPIFY is set after the call."
        FACTS "found   ${source}, whose translation the call has named"
        FIX "set_source_files_properties(${source} PROPERTIES CUDAOPS_SKIP_HIPIFY ON) before hipify_sources()"
      )
    endif()
    _cudaops_hipify_path("${source}" path)
    list(APPEND paths "${path}")
    get_property(directories SOURCE "${source}" PROPERTY INCLUDE_DIRECTORIES)
    _cudaops_hipify_absolute(absolute ${directories})
    _cudaops_hipify_lines(own "own\t${path}" ${absolute})
    string(APPEND text "${own}")
  endforeach()
  _cudaops_hipify_places(place "${mirror}" SOURCES ${paths} INCLUDES ${includes} OUTSIDE ${skipped})
  _cudaops_hipify_forget(place ${skipped})
  _cudaops_hipify_settings(place "${mirror}" settings TEXT "${text}")
  foreach(source path IN ZIP_LISTS sources paths)
    _cudaops_hipify_mirror_of(place "${path}" output)
    _cudaops_hipify_properties(place "${source}" "${output}")
    _cudaops_state_get(HIPIFY_OUTPUTS outputs)
    if("${output}|${settings}" IN_LIST outputs)
      continue()
    endif()
    string(FIND ";${outputs};" ";${output}|" taken)
    if(NOT taken EQUAL -1)
      _cudaops_stop(
        "${command}: ${source} is translated into ${mirror} already, with other include directories."
        FACTS "found   ${output}, made by another call"
        FIX "another OUTPUT_DIRECTORY, or the same INCLUDE_DIRECTORIES"
      )
    endif()
    _cudaops_state_append(HIPIFY_OUTPUTS "${output}|${settings}")
    _cudaops_hipify_command("${settings}" "${path}" "${output}" "${mirror}")
  endforeach()
endfunction()

# _cudaops_hipify_target(<target>): cudaops_target_hipify(), now. Expects to run at the end of the target's directory.
function(_cudaops_hipify_target target)
  set(command "cudaops_target_hipify(${target})")
  get_target_property(sources ${target} SOURCES)
  if(NOT sources)
    return()
  endif()
  get_target_property(skip ${target} CUDAOPS_SKIP_HIPIFY)
  if(skip)
    foreach(source IN LISTS sources)
      _cudaops_hipify_untranslated("${source}")
    endforeach()
    return()
  endif()
  set(mirror "${CMAKE_CURRENT_BINARY_DIR}/${target}.hipified")
  _cudaops_hipify_no_interface_sources("${command}" ${target})

  # What is translated, and what else the build makes for this target.
  set(given "")
  set(paths "")
  set(skipped "")
  set(generated "")
  foreach(source IN LISTS sources)
    if(source MATCHES "\\$<")
      if(source MATCHES "\\.cu([>;]|$)")
        _cudaops_stop(
          "${command}: a .cu file in a generator expression can't be translated."
          FACTS "found   ${source}" "wanted  the name of a file: which file it is must be known at configure"
          FIX "if() around target_sources(${target} PRIVATE <file>)"
        )
      endif()
      continue()
    endif()
    _cudaops_hipify_path("${source}" path)
    _cudaops_hipify_skip("${source}" skip)
    if(skip)
      list(APPEND skipped "${path}")
    endif()
    get_source_file_property(is_generated "${path}" GENERATED)
    _cudaops_hipify_is_source("${path}" is_source)
    if(is_source)
      list(APPEND given "${source}")
      list(APPEND paths "${path}")
    elseif(is_generated)
      list(APPEND generated "${path}")
    endif()
  endforeach()
  _cudaops_hipify_target_lines(${target} includes text)
  foreach(source path IN ZIP_LISTS given paths)
    get_property(directories SOURCE "${source}" PROPERTY INCLUDE_DIRECTORIES)
    _cudaops_hipify_absolute(absolute ${directories})
    _cudaops_hipify_lines(own "own\t${path}" ${absolute})
    string(APPEND text "${own}")
  endforeach()

  get_target_property(own ${target} INCLUDE_DIRECTORIES)
  if(NOT own)
    set(own "")
  endif()
  _cudaops_hipify_absolute(own ${own})
  # What other calls have translated stays as it is.
  _cudaops_state_get(HIPIFY_MIRRORS others)
  _cudaops_hipify_places(place "${mirror}" SOURCES ${paths} INCLUDES ${own} OUTSIDE ${others} ${skipped})
  set(translate "")
  set(outputs "")
  foreach(source path IN ZIP_LISTS given paths)
    get_source_file_property(header_only "${source}" HEADER_FILE_ONLY)
    get_source_file_property(object "${source}" EXTERNAL_OBJECT)
    _cudaops_hipify_mirror_of(place "${path}" output)
    _cudaops_hipify_below("${path}" own_file "${CMAKE_CURRENT_BINARY_DIR}/CudaOps")
    if(header_only OR object OR own_file)
      set(output "")
    elseif(output STREQUAL "" AND NOT path IN_LIST skipped)
      _cudaops_state_get(HIPIFY_MIRRORS others)
      _cudaops_hipify_below("${path}" translated ${others})
      if(path MATCHES "\\.cu$" AND NOT translated)
        _cudaops_hipify_no_root("${command}" "${path}" "target_include_directories(${target} PRIVATE <directory above it>)"
          ${place_ROOTS}
        )
      endif()
    endif()
    list(APPEND outputs "${output}.")
    if(output)
      list(APPEND translate "${path}")
    endif()
  endforeach()
  if(translate STREQUAL "")
    return()
  endif()
  _cudaops_hipify_translator("${command}")
  _cudaops_state_append(HIPIFY_MIRRORS "${mirror}")
  _cudaops_hipify_forget(place ${skipped})
  _cudaops_hipify_settings(place "${mirror}" settings TEXT "${text}" TARGET ${target})
  # Of what the target itself names as it is every mirror, then those of all that it is given.
  set(mirrors "")
  if(NOT "${own}" MATCHES "\\$<")
    _cudaops_hipify_mirrors(place mirrors ${own})
  endif()
  _cudaops_hipify_mirrors(place evaluated "${includes}")
  list(APPEND mirrors "${evaluated}")
  set(result "")
  foreach(source IN LISTS sources)
    list(FIND given "${source}" index)
    set(output ".")
    if(NOT index EQUAL -1)
      list(GET outputs ${index} output)
    endif()
    if(output STREQUAL ".")
      list(APPEND result "${source}")
      continue()
    endif()
    string(REGEX REPLACE "\\.$" "" output "${output}")
    list(GET paths ${index} path)
    _cudaops_hipify_properties(place "${source}" "${output}")
    if(NOT output IN_LIST result)
      _cudaops_hipify_command("${settings}" "${path}" "${output}" "${mirror}")
      list(APPEND result "${output}")
      # Not of the target: a source that isn't translated sees the headers as they stand, and no property of a target may
      # refer to what it is made of.
      set_property(SOURCE "${output}" APPEND PROPERTY INCLUDE_DIRECTORIES "${mirrors}")
    endif()
  endforeach()
  set_property(TARGET ${target} PROPERTY SOURCES "${result}")
  if(generated)
    # Any of the sources may include them, so they must be there before; and a change of one is its users' alone, so
    # that no command may depend on all of them.
    add_custom_target(${target}_generated_headers DEPENDS ${generated})
    add_dependencies(${target} ${target}_generated_headers)
  endif()
endfunction()

# _cudaops_hipify_target_lines(<target> <out-includes> <out-text>)
#
# The expression for the include directories that <target> compiles with, and the lines of the settings for them and for
# those whose headers are used as they are. An INTERFACE library with what <target> has and links gives it: <target> itself
# is given the mirrors, and no property may refer to itself.
function(_cudaops_hipify_target_lines target out_includes out_text)
  set(view _cudaops_hipify_${target})
  add_library(${view} INTERFACE)
  set(own "")
  foreach(property IN ITEMS INCLUDE_DIRECTORIES LINK_LIBRARIES)
    get_target_property(value ${target} ${property})
    if(value)
      set_property(TARGET ${view} PROPERTY INTERFACE_${property} "${value}")
      if(property STREQUAL "INCLUDE_DIRECTORIES")
        set(own "${value}")
      endif()
    endif()
  endforeach()
  set(includes "$<TARGET_PROPERTY:${view},INTERFACE_INCLUDE_DIRECTORIES>")
  _cudaops_hipify_lines(text include "${includes}")
  _cudaops_hipify_lines(lines system "$<TARGET_PROPERTY:${view},INTERFACE_SYSTEM_INCLUDE_DIRECTORIES>")
  string(APPEND text "${lines}")
  _cudaops_hipify_lines(lines project ${own})
  string(APPEND text "${lines}")
  _cudaops_hipify_foreign_lines(lines)
  string(APPEND text "${lines}")
  # Those that name a header: an #include may name the macro.
  set(headers "$<FILTER:$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>,INCLUDE,=[\"<].*[\"$<ANGLE-R>]$>")
  string(APPEND text "define\t$<JOIN:${headers},\ndefine\t>\n")
  set(sources "$<FILTER:$<TARGET_PROPERTY:${view},INTERFACE_SOURCES>,INCLUDE,[.]cu$>")
  string(APPEND text "interface_source\t$<JOIN:${sources},\ninterface_source\t>\n")
  set(${out_includes} "${includes}" PARENT_SCOPE)
  set(${out_text} "${text}" PARENT_SCOPE)
endfunction()

# _cudaops_hipify_foreign_lines(<out>)
#
# The include directories of all imported and SYSTEM targets that can be seen here, linked or not: whatever their way to a
# target, their headers are used as they are. Once for each directory, at its end.
function(_cudaops_hipify_foreign_lines out)
  _cudaops_state_get(HIPIFY_FOREIGN_FOR place)
  if(NOT place STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    set(text "")
    _cudaops_top_directories(todo ignored)
    while(NOT todo STREQUAL "")
      list(POP_FRONT todo directory)
      get_property(below DIRECTORY "${directory}" PROPERTY SUBDIRECTORIES)
      list(APPEND todo ${below})
      foreach(property IN ITEMS IMPORTED_TARGETS BUILDSYSTEM_TARGETS)
        get_property(targets DIRECTORY "${directory}" PROPERTY ${property})
        foreach(name IN LISTS targets)
          if(TARGET ${name})
            get_target_property(directories ${name} INTERFACE_INCLUDE_DIRECTORIES)
            get_target_property(system ${name} SYSTEM)
            if(directories AND (system OR property STREQUAL "IMPORTED_TARGETS"))
              set(word imported)
              if(system)
                set(word system)
              endif()
              _cudaops_hipify_lines(lines ${word} ${directories})
              string(APPEND text "${lines}")
            endif()
          endif()
        endforeach()
      endforeach()
    endwhile()
    _cudaops_state_set(HIPIFY_FOREIGN_FOR "${CMAKE_CURRENT_SOURCE_DIR}")
    _cudaops_state_set(HIPIFY_FOREIGN "${text}")
  endif()
  _cudaops_state_get(HIPIFY_FOREIGN text)
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# A .cu among the INTERFACE sources of a library that <target> links would be compiled as it is. Those of libraries behind
# that one are known later: cudaops/hipify.py stops.
function(_cudaops_hipify_no_interface_sources command target)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  foreach(library IN LISTS libraries)
    if(TARGET "${library}")
      get_target_property(imported ${library} IMPORTED)
      get_target_property(sources ${library} INTERFACE_SOURCES)
      if(NOT imported AND sources MATCHES "\\.cu([>;]|$)")
        _cudaops_stop(
          "${command}: a .cu file among the INTERFACE sources of ${library} can't be translated."
          FACTS "found   ${sources}" "wanted  a source of the target itself"
          FIX "target_sources(${target} PRIVATE <file>), or an OBJECT library"
        )
      endif()
    endif()
  endforeach()
endfunction()

# _cudaops_hipify_no_root(<command> <source> <fix> <root>...)
function(_cudaops_hipify_no_root command source fix)
  set(facts "found   ${source}")
  set(lead "wanted  a file below ")
  foreach(root IN LISTS ARGN)
    list(APPEND facts "${lead}${root}")
    set(lead "        or below ")
  endforeach()
  _cudaops_stop("${command}: a source is in no directory that is translated." FACTS ${facts} FIX "${fix}")
endfunction()
