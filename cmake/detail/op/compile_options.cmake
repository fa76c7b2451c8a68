# SPDX-License-Identifier: Apache-2.0
# Checks the compile options of a target at the end of its directory: without a language condition, nvcc's options apply
# to C++ files too, and architectures among them are not those that CudaOps reports.

_cudaops_use(base/message base/probe base/state)

# _cudaops_options_target(<target>): looks at it at the end of this directory, once.
function(_cudaops_options_target target)
  _cudaops_target_get(${target} OPTIONS_DEFERRED deferred)
  if(NOT deferred)
    _cudaops_target_set(${target} OPTIONS_DEFERRED TRUE)
    cmake_language(EVAL CODE "cmake_language(DEFER CALL _cudaops_options_finish [==[${target}]==])")
  endif()
endfunction()

function(_cudaops_options_finish target)
  _cudaops_state_get(BACKEND backend)
  _cudaops_state_get(OPTIONS_FLAGS_SAID said)
  if(backend STREQUAL "CUDA" AND NOT said)
    _cudaops_options_architectures("CMAKE_CUDA_FLAGS" "${CMAKE_CUDA_FLAGS}")
    _cudaops_state_set(OPTIONS_FLAGS_SAID TRUE)
  endif()
  get_target_property(options ${target} COMPILE_OPTIONS)
  if(NOT options)
    return()
  endif()
  set(command "target_compile_options(${target})")
  _cudaops_options_architectures("${command}" "${options}")

  # A generated file is compiled without options for other languages; the user's C++ files with all of them.
  _cudaops_options_own(${target} own_cxx)
  _cudaops_options_plain("${options}" plain guarded)
  if(own_cxx STREQUAL "NONE")
    if(NOT guarded STREQUAL options)
      set_property(TARGET ${target} PROPERTY COMPILE_OPTIONS "${guarded}")
    endif()
  elseif(own_cxx AND NOT plain STREQUAL "")
    _cudaops_options_refused("${plain}" refused)
    if(NOT refused STREQUAL "")
      list(JOIN refused " " found)
      list(JOIN refused ";" fix)
      _cudaops_stop(
        "${command}: the C++ compiler has no such option, and the target has C++ files."
        FACTS "found   ${found}" "C++     ${own_cxx}, compiled by ${CMAKE_CXX_COMPILER}"
        FIX "target_compile_options(${target} PRIVATE \"$<$<COMPILE_LANGUAGE:CUDA>:${fix}>\")"
      )
    endif()
  endif()
endfunction()

# A C++ file of the user among the sources of <target>; NONE if there is none, empty if that isn't known.
function(_cudaops_options_own target out)
  set(${out} "" PARENT_SCOPE)
  get_target_property(sources ${target} SOURCES)
  get_target_property(build ${target} BINARY_DIR)
  foreach(source IN LISTS sources)
    if(source MATCHES "\\$<")
      return()
    endif()
    cmake_path(IS_PREFIX build "${source}" in_build)
    get_source_file_property(language "${source}" TARGET_DIRECTORY ${target} LANGUAGE)
    if(in_build AND source MATCHES "/CudaOps/[^/]*$")
      continue()
    elseif(language STREQUAL "CXX" OR (NOT language AND source MATCHES "\\.(cc|cpp|cxx)$"))
      set(${out} "${source}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${out} "NONE" PARENT_SCOPE)
endfunction()

# <out-plain>: the options that stand in no generator expression; <out-guarded>: all of them, those for any language kept
# from C++.
function(_cudaops_options_plain options out_plain out_guarded)
  set(plain "")
  set(guarded "")
  set(whole "")
  set(depth 0)
  foreach(option IN LISTS options)
    string(REGEX MATCHALL "\\$<" opened "${option}")
    string(REGEX MATCHALL ">" closed "${option}")
    list(LENGTH opened opened)
    list(LENGTH closed closed)
    if(depth EQUAL 0 AND opened EQUAL 0)
      list(APPEND plain "${option}")
      if(NOT closed EQUAL 0)
        # It can't stand in an expression as it is.
        list(APPEND guarded "${option}")
        continue()
      endif()
    endif()
    # A semicolon inside of an expression has cut it.
    list(APPEND whole "${option}")
    math(EXPR depth "${depth} + ${opened} - ${closed}")
    if(NOT depth EQUAL 0)
      continue()
    elseif(NOT whole MATCHES "COMPILE_LANG")
      set(whole "$<$<NOT:$<COMPILE_LANGUAGE:CXX>>:${whole}>")
    endif()
    list(APPEND guarded "${whole}")
    set(whole "")
  endforeach()
  list(APPEND guarded ${whole})
  set(${out_plain} "${plain}" PARENT_SCOPE)
  set(${out_guarded} "${guarded}" PARENT_SCOPE)
endfunction()

# Those of <options> that the C++ compiler says it doesn't know.
function(_cudaops_options_refused options out)
  set(words "")
  foreach(option IN LISTS options)
    if(option MATCHES "^SHELL:(.*)$")
      separate_arguments(option NATIVE_COMMAND "${CMAKE_MATCH_1}")
    endif()
    list(APPEND words ${option})
  endforeach()
  _cudaops_probe(
    said
    MATCHALL "(unrecognized|unknown|unsupported)[a-z -]* (option|argument):? '[^'\n]+'"
    STREAM ERROR
    PROGRAM
    ENVIRONMENT LC_ALL=C
    COMMAND "${CMAKE_CXX_COMPILER}" ${words} -fsyntax-only -x c++ /dev/null
  )
  set(refused "")
  if(NOT said_EXIT STREQUAL "0")
    list(TRANSFORM said_OUTPUT REPLACE "^.*'([^']+)'$" "\\1")
    foreach(option IN LISTS options)
      foreach(word IN LISTS said_OUTPUT)
        string(FIND "${option}" "${word}" position)
        if(NOT position EQUAL -1)
          list(APPEND refused "${option}")
          break()
        endif()
      endforeach()
    endforeach()
  endif()
  set(${out} "${refused}" PARENT_SCOPE)
endfunction()

# Warns of architectures among <options>, which are those of <where>: they are compiled besides those of the target.
function(_cudaops_options_architectures where options)
  if(NOT "${options}" MATCHES "(gencode|generate-code|arch|gpu-code|-code)[ =;]")
    return()
  endif()
  set(names "gencode|generate-code|arch|gpu-architecture|code|gpu-code|offload-arch|cuda-gpu-arch")
  string(REGEX MATCHALL "(^|[;: ])--?(${names})[ =;]+[^;> ]+" found ";${options}")
  # Code for the link, which is made into that of the target's architectures.
  list(FILTER found EXCLUDE REGEX "lto_")
  set(shown "")
  set(archs "")
  foreach(option IN LISTS found)
    if(option STREQUAL "" OR option MATCHES "^[:]?$")
      continue()
    endif()
    string(REGEX REPLACE "^[;: ]" "" option "${option}")
    list(APPEND shown "${option}")
    string(REGEX REPLACE "arch=compute_[0-9]+[af]?,code=" "" value "${option}")
    string(REGEX REPLACE "^--?(${names})[ =;]+" "" value "${value}")
    _cudaops_use(arch/grammar)
    _cudaops_arch_parse("${value}" entries error meant)
    list(APPEND archs ${entries} ${meant})
  endforeach()
  if(shown STREQUAL "")
    return()
  endif()
  _cudaops_state_get(BACKEND gpu)
  if(NOT gpu STREQUAL "HIP")
    set(gpu CUDA)
  endif()
  set(example "<arch>")
  if(gpu STREQUAL "CUDA" AND NOT archs STREQUAL "")
    list(REMOVE_DUPLICATES archs)
    set(example "${archs}")
    if(archs MATCHES ";")
      set(example "\"${archs}\"")
    endif()
  endif()
  list(JOIN shown "  " shown)
  _cudaops_warn(
    "${where}: the compile options contain architectures."
    FACTS
      "found   ${shown}"
      "rule    they are compiled in addition to the target's, and reports, checks and messages don't have them"
    FIX "leave them out, and -DCMAKE_${gpu}_ARCHITECTURES=${example}"
  )
endfunction()
