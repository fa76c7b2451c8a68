# SPDX-License-Identifier: Apache-2.0
# The commands that make translations to HIP, and what a target compiles instead of its sources.

_cudaops_use(base/message base/paths base/programs base/state hipify/places hipify/settings hipify/sources hipify/translator)

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
  set(
    modules
    __init__
    search
    settings
    text
    translation
    translators
  )
  list(TRANSFORM modules PREPEND "hipify/")
  list(APPEND modules includes store)
  list(TRANSFORM modules REPLACE "(.+)" "${package}/\\1.py")
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
    _cudaops_hipify_own_lines(lines "${source}" "${path}")
    string(APPEND text "${lines}")
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

# _cudaops_hipify_target_sources(<target> <out-given> <out-paths> <out-skipped> <out-generated>)
#
# Of the sources of <target>: those for a compiler, as they are given and as paths (two lists of the same length), the paths
# of those that stay as they are, and what else the build makes for it.
function(
  _cudaops_hipify_target_sources
  target
  out_given
  out_paths
  out_skipped
  out_generated
)
  get_target_property(sources ${target} SOURCES)
  set(given "")
  set(paths "")
  set(skipped "")
  set(generated "")
  foreach(source IN LISTS sources)
    if(source MATCHES "\\$<")
      if(source MATCHES "\\.cu([>;]|$)")
        _cudaops_stop(
          "cudaops_target_hipify(${target}): a .cu file in a generator expression can't be translated."
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
  set(${out_given} "${given}" PARENT_SCOPE)
  set(${out_paths} "${paths}" PARENT_SCOPE)
  set(${out_skipped} "${skipped}" PARENT_SCOPE)
  set(${out_generated} "${generated}" PARENT_SCOPE)
endfunction()

# _cudaops_hipify_target_output(<target> <source as given> <path> <out>)
#
# The translation of one of its sources, or empty where it is compiled as it is. Reads the caller's place_* and skipped.
function(_cudaops_hipify_target_output target source path out)
  get_source_file_property(header_only "${source}" HEADER_FILE_ONLY)
  get_source_file_property(object "${source}" EXTERNAL_OBJECT)
  _cudaops_hipify_mirror_of(place "${path}" output)
  _cudaops_hipify_below("${path}" own_file "${CMAKE_CURRENT_BINARY_DIR}/CudaOps")
  if(header_only OR object OR own_file)
    set(output "")
  elseif(output STREQUAL "" AND path MATCHES "\\.cu$" AND NOT path IN_LIST skipped)
    _cudaops_state_get(HIPIFY_MIRRORS others)
    _cudaops_hipify_below("${path}" translated ${others})
    if(NOT translated)
      _cudaops_hipify_no_root("cudaops_target_hipify(${target})" "${path}"
        "target_include_directories(${target} PRIVATE <directory above it>)" ${place_ROOTS}
      )
    endif()
  endif()
  set(${out} "${output}" PARENT_SCOPE)
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

  _cudaops_hipify_target_sources(${target} given paths skipped generated)
  _cudaops_hipify_target_lines(${target} includes text)
  foreach(source path IN ZIP_LISTS given paths)
    _cudaops_hipify_own_lines(lines "${source}" "${path}")
    string(APPEND text "${lines}")
  endforeach()

  get_target_property(own ${target} INCLUDE_DIRECTORIES)
  if(NOT own)
    set(own "")
  endif()
  _cudaops_hipify_absolute(own ${own})
  # What other calls have translated stays as it is.
  _cudaops_state_get(HIPIFY_MIRRORS others)
  _cudaops_hipify_places(place "${mirror}" SOURCES ${paths} INCLUDES ${own} OUTSIDE ${others} ${skipped})
  set(translate FALSE)
  set(outputs "")
  foreach(source path IN ZIP_LISTS given paths)
    _cudaops_hipify_target_output(${target} "${source}" "${path}" output)
    list(APPEND outputs "${output}.")
    if(output)
      set(translate TRUE)
    endif()
  endforeach()
  if(NOT translate)
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

# A .cu among the INTERFACE sources of a library that <target> links would be compiled as it is. Those of libraries behind
# that one are known later: cudaops/hipify stops.
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
