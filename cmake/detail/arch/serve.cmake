# SPDX-License-Identifier: Apache-2.0
# Which of the requested architectures code is built for that supports some.

_cudaops_use(arch/cuda arch/grammar arch/select base/message base/options base/probe base/state base/text)

# _cudaops_arch_serve(<out> <out-unserved> CALLER <command> [REQUEST <arch>...] [ARCHITECTURES <arch>...] [NVCC <path>])
#
# What code that supports ARCHITECTURES (default: all) is built for of REQUEST (default: the build tree's); see
# CudaOpsArchitectures.cmake. <out-unserved>: what of the request no code serves.
function(_cudaops_arch_serve out out_unserved)
  set(lists REQUEST ARCHITECTURES)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "CALLER;NVCC" "${lists}")
  set(${out} "" PARENT_SCOPE)
  set(${out_unserved} "" PARENT_SCOPE)
  _cudaops_state_get(BACKEND backend)
  if(backend STREQUAL "HIP" AND "${arg_NVCC}" STREQUAL "")
    _cudaops_use(arch/hip)
    _cudaops_hip_resolve(entries unserved CALLER "${arg_CALLER}" FILTER ${arg_ARCHITECTURES} REQUEST ${arg_REQUEST})
    set(${out} "${entries}" PARENT_SCOPE)
    set(${out_unserved} "${unserved}" PARENT_SCOPE)
    return()
  endif()
  if(DEFINED arg_ARCHITECTURES)
    # What code supports of AMD's says nothing about CUDA, unless it is all that it supports.
    list(FILTER arg_ARCHITECTURES EXCLUDE REGEX "^gfx")
    if("${arg_ARCHITECTURES}" STREQUAL "")
      _cudaops_state_get(ARCHITECTURES entries)
      set(${out_unserved} "${entries}" PARENT_SCOPE)
      return()
    endif()
  endif()

  foreach(keyword IN LISTS lists)
    set(entries "")
    if(DEFINED arg_${keyword})
      set(filter FALSE)
      if(keyword STREQUAL "ARCHITECTURES")
        set(filter TRUE)
        _cudaops_arch_parse_filter("${arg_${keyword}}" entries error meant)
      else()
        _cudaops_arch_parse("${arg_${keyword}}" entries error meant)
      endif()
      if(error)
        string(REGEX MATCH "\"([^\"]*)\"" ignored "${error}")
        _cudaops_arch_keyword_hint("${CMAKE_MATCH_1}" "${lists};UNSERVED;NVCC" hint)
        # The error is a sentence already.
        if(hint STREQUAL ".")
          set(hint "")
        else()
          string(REGEX REPLACE "\\.$" "" error "${error}")
        endif()
        string(REPLACE ";" " " found "${arg_${keyword}}")
        set(fix "${keyword} 80 90a, or the like")
        if(NOT meant STREQUAL "")
          list(JOIN meant " " meant)
          set(fix "${keyword} ${meant}")
        endif()
        _cudaops_arch_accepted(accepted ${filter})
        _cudaops_stop(
          "${arg_CALLER}: ${error}${hint}"
          FACTS "found     ${keyword} ${found}" "accepted  ${accepted}"
          FIX "${fix}"
        )
      endif()
    endif()
    set(${keyword} "${entries}")
  endforeach()

  if(NOT "${arg_NVCC}" STREQUAL "")
    if(NOT EXISTS "${arg_NVCC}" OR IS_DIRECTORY "${arg_NVCC}")
      _cudaops_stop("${arg_CALLER}: NVCC is not a compiler." FACTS "found   ${arg_NVCC}" "wanted  the path of nvcc" FIX "NVCC <toolkit>/bin/nvcc")
    endif()
    _cudaops_arch_ask_nvcc(supported "${arg_NVCC}")
    _cudaops_probe(about PROGRAM COMMAND "${arg_NVCC}" --version)
    _cudaops_use(facts/version_text)
    _cudaops_read_nvcc_version("${about_OUTPUT}" version)
    if(supported STREQUAL "" OR version STREQUAL "")
      _cudaops_first_line("${about_ERROR}${about_OUTPUT}" line)
      _cudaops_stop(
        "${arg_CALLER}: NVCC doesn't answer as nvcc does."
        FACTS "found   ${arg_NVCC}" "output  ${line} (exit code ${about_EXIT})"
        FIX "NVCC <toolkit>/bin/nvcc"
      )
    endif()
    cmake_path(GET arg_NVCC PARENT_PATH root)
    cmake_path(GET root PARENT_PATH root)
    set(
      toolkit
      SUPPORTED
      ${supported}
      TOOLKIT_VERSION
      "${version}"
      TOOLKIT_ROOT
      "${root}"
    )
  else()
    _cudaops_state_get(VERDICT verdict)
    _cudaops_state_get(TOOLKIT_ARCHS supported)
    _cudaops_state_get(TOOLKIT_VERSION version)
    set(toolkit "")
    if(verdict STREQUAL "")
      _cudaops_stop(
        "${arg_CALLER}: no toolkit has been chosen yet."
        FACTS "wanted  find_package(CudaTorchMatch) before this call, or NVCC"
        FIX "find_package(CudaTorchMatch REQUIRED)"
      )
    endif()
  endif()
  if(supported STREQUAL "")
    return()
  endif()

  if(REQUEST STREQUAL "")
    _cudaops_state_get(ARCHITECTURES entries)
    _cudaops_state_get(ARCHITECTURES_SOURCE source)
    if(entries STREQUAL "")
      _cudaops_stop(
        "${arg_CALLER}: nothing is requested."
        FACTS "wanted  REQUEST, or find_package(CudaTorchMatch) before this call"
        FIX "REQUEST common"
      )
    endif()
    set(text "${entries}")
  else()
    set(entries "${REQUEST}")
    set(source "this call")
    list(JOIN arg_REQUEST " " text)
  endif()
  _cudaops_arch_resolve(
    entries
    CALLER "${arg_CALLER}"
    FIX "REQUEST @"
    REQUEST ${entries}
    TEXT "${text}"
    SOURCE "${source}"
    ${toolkit}
  )

  set(unserved "")
  if(NOT ARCHITECTURES STREQUAL "")
    # `all` says that the code supports everything: no list of this toolkit's can say it as well.
    set(filter "")
    foreach(entry IN LISTS ARCHITECTURES)
      if(entry MATCHES "^(native|common|all-major)$")
        _cudaops_arch_resolve(
          numbers
          CALLER "${arg_CALLER}"
          REQUEST ${entry}
          TEXT "${entry}"
          SOURCE "ARCHITECTURES of this call"
          ${toolkit}
        )
        list(APPEND filter ${numbers})
      else()
        list(APPEND filter "${entry}")
      endif()
    endforeach()
    _cudaops_arch_filter(served REQUEST ${entries} FILTER ${filter} SUPPORTED ${supported})
    set(entries "${served_ENTRIES}")
    set(unserved "${served_UNSERVED}")
    if(NOT served_SKIPPED STREQUAL "")
      list(JOIN served_SKIPPED " " skipped)
      _cudaops_verbose("${arg_CALLER}: CUDA ${version} can't build ${skipped}, passed over")
    endif()
  endif()
  set(${out} "${entries}" PARENT_SCOPE)
  set(${out_unserved} "${unserved}" PARENT_SCOPE)
endfunction()

# The end of a sentence: ", did you mean X?" where a word looks like a keyword, else ".".
function(_cudaops_arch_keyword_hint word keywords out)
  set(hint ".")
  if(word MATCHES "^[A-Z_]+$")
    _cudaops_use(base/closest)
    _cudaops_closest("${word}" "${keywords}" closest)
    if(closest)
      set(hint ", did you mean ${closest}?")
    endif()
  endif()
  set(${out} "${hint}" PARENT_SCOPE)
endfunction()
