# SPDX-License-Identifier: Apache-2.0
# A source and its translation: which are translated, what compiles them, the properties that both have.

_cudaops_use(hipify/places)

# _cudaops_hipify_is_source(<file> <out>): whether a compiler is given this kind of file.
function(_cudaops_hipify_is_source file out)
  set(${out} FALSE PARENT_SCOPE)
  if(file MATCHES "\\.(cu|hip|c|cc|cpp|cxx)$")
    set(${out} TRUE PARENT_SCOPE)
  endif()
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

# _cudaops_hipify_properties(<prefix> <source as given> <translation>): copies the source's properties to its
# translation.
function(_cudaops_hipify_properties prefix source output)
  set(names "COMPILE_DEFINITIONS;COMPILE_FLAGS;COMPILE_OPTIONS;CXX_SCAN_FOR_MODULES;LABELS;OBJECT_DEPENDS")
  list(APPEND names "OBJECT_OUTPUTS;SKIP_LINTING;SKIP_PRECOMPILE_HEADERS;SKIP_UNITY_BUILD_INCLUSION;UNITY_GROUP")
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
