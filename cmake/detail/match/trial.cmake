# SPDX-License-Identifier: Apache-2.0
# Whether nvcc and its host compiler belong together and compile one kernel: asked where it isn't known from an earlier
# configure step.

_cudaops_use(base/message base/options base/probe base/stamps base/state base/text facts/compiler facts/host_compiler)

# _cudaops_host_compiler_verify(<host_config.h> <out-problem>)
#
# Stops where the toolkit refuses the compiler: a CPU-only build would hide a cure that takes one option.
function(_cudaops_host_compiler_verify host_config)
  if(NOT host_config OR NOT EXISTS "${host_config}")
    return()
  endif()
  _cudaops_state_get(HOST_COMPILER path)
  _cudaops_state_get(HOST_COMPILER_ID id)
  _cudaops_state_get(HOST_COMPILER_VERSION version)
  _cudaops_state_get(HOST_COMPILER_SOURCE source)
  _cudaops_state_get(TOOLKIT_VERSION toolkit)
  _cudaops_state_get(TOOLKIT_ROOT root)
  _cudaops_follows("${host_config}")
  file(READ "${host_config}" text LIMIT 200000)
  _cudaops_host_config_bounds("${text}" bounds)
  _cudaops_host_compiler_fits(fits ID "${id}" VERSION "${version}" ${bounds_BOUNDS})
  if(NOT fits)
    _cudaops_env(NVCC_PREPEND_FLAGS prepended)
    _cudaops_env(NVCC_APPEND_FLAGS appended)
    _cudaops_cuda_flags(flags)
    _cudaops_host_compilers_here(others)
    _cudaops_host_compiler_check(
      check
      ID "${id}"
      VERSION "${version}"
      ${bounds_BOUNDS}
      PATH "${path}"
      SOURCE "${source}"
      TOOLKIT "${toolkit}"
      TOOLKIT_ROOT "${root}"
      FLAGS "${flags} ${prepended} ${appended}"
      OTHERS ${others}
    )
    if(check_ERROR)
      _cudaops_state_set(REASON_CODE HOST_COMPILER)
      _cudaops_state_set(REASON "${check_ERROR}")
      _cudaops_stop("${check_HEAD}" FACTS ${check_FACTS} FIX ${check_FIX})
    endif()
  endif()

  string(REPLACE "host_config.h" "math_functions.h" math "${host_config}")
  if(EXISTS "${math}")
    # Half a megabyte, so it is read once on a machine.
    _cudaops_probe(
      math
      FILES "${math}"
      MATCHALL "double[ \t]+(cospi|rsqrt)[^;\n]*"
      MACHINE
      COMMAND grep -E "cospi|rsqrt" "${math}"
    )
    _cudaops_glibc_bound("${math_OUTPUT};" bound)
    if(bound)
      # The compiler may have a C library of its own (conda's), which is renewed without it.
      set(features ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES} /usr/include)
      list(TRANSFORM features APPEND "/features.h")
      set(shared PROGRAM)
      if(NOT path STREQUAL CMAKE_CXX_COMPILER)
        # Where it has its headers isn't known.
        set(shared "")
        list(APPEND features "${path}")
      endif()
      _cudaops_probe(
        libc
        FILES ${features}
        MATCHALL "__GLIBC(_MINOR)?__ [0-9]+"
        ${shared}
        COMMAND "${path}" -E -dM -x c++ -include features.h /dev/null
      )
      if(libc_OUTPUT MATCHES "__GLIBC__ ([0-9]+)")
        set(glibc "${CMAKE_MATCH_1}")
        string(REGEX MATCH "__GLIBC_MINOR__ ([0-9]+)" minor "${libc_OUTPUT}")
        string(APPEND glibc ".${CMAKE_MATCH_1}")
        _cudaops_glibc_check(
          check
          GLIBC "${glibc}"
          BOUND "${bound}"
          TOOLKIT "${toolkit}"
          TOOLKIT_ROOT "${root}"
          HEADER "${math}"
        )
        if(check_ERROR)
          _cudaops_state_set(REASON_CODE HOST_COMPILER)
          _cudaops_state_set(REASON "${check_ERROR}")
          _cudaops_stop("${check_HEAD}" FACTS ${check_FACTS} FIX ${check_FIX})
        endif()
      endif()
    endif()
  endif()
endfunction()

# _cudaops_language_trial(<out-problem>)
#
# A failing enable_language() can't be caught, so one kernel is compiled with the chosen pair first. The object goes
# nowhere; the answer is shared between build trees.
function(_cudaops_language_trial out_problem)
  set(${out_problem} "" PARENT_SCOPE)
  _cudaops_state_get(TOOLKIT_NVCC nvcc)
  _cudaops_state_get(TOOLKIT_ROOT root)
  _cudaops_state_get(TOOLKIT_HOST_CONFIG host_config)
  _cudaops_state_get(HOST_COMPILER host)
  _cudaops_state_get(HOST_COMPILER_GIVEN given)
  set(ccbin "")
  if(given)
    set(ccbin "-ccbin=${host}")
  endif()
  _cudaops_cuda_flags(flags)
  # A cubin is for one architecture; which one doesn't matter here.
  string(
    REGEX REPLACE "(^| )(-gencode|--generate-code|-arch|--gpu-architecture|-code|--gpu-code)[ =]+[^ ]+"
    ""
    flags
    "${flags}"
  )
  separate_arguments(flags NATIVE_COMMAND "${flags}")
  cmake_path(SET source NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../tools/trial.cu")
  # A cubin goes through everything but the host's code generator, at a third of the cost. What fails there is tried
  # whole, because that is what counts.
  foreach(kind IN ITEMS -cubin -c)
    _cudaops_probe(
      trial
      FILES "${root}/bin/ptxas" "${root}/nvvm/bin/cicc" "${host_config}" "${host}"
      PROGRAM
      COMMAND "${nvcc}" ${ccbin} ${flags} ${kind} "${source}" -o /dev/null
    )
    if(trial_EXIT STREQUAL "0")
      return()
    endif()
  endforeach()
  set(text "${trial_ERROR}\n${trial_OUTPUT}")
  _cudaops_error_line("${text}" line)
  set(${out_problem} "${line}" PARENT_SCOPE)
endfunction()
