# SPDX-License-Identifier: Apache-2.0
# The options that the HIP compiler of the chosen ROCm needs, and whether it builds for architectures.

_cudaops_use(base/options base/probe base/state base/text)

# _cudaops_hip_flags(<out>): what clang needs to find ROCm's pieces, as a list; empty where it finds them itself.
#
# Asked of the compiler, because no rule says it: AMD's clang looks around itself, a distribution's may not.
function(_cudaops_hip_flags out)
  _cudaops_state_get(ROCM_FLAGS_KNOWN known)
  if(NOT known)
    _cudaops_state_get(ROCM_COMPILER compiler)
    _cudaops_state_get(ROCM_ROOT root)
    _cudaops_state_get(ROCM_DEVICE_LIB_DIR device_libs)
    cmake_path(SET source NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../tools/trial.hip")
    set(flags "")
    # Where it is found without options, -### prints the paths in use: they must be of this ROCm. The environment, which
    # clang listens to, may be another one when the build runs.
    _cudaops_env(ROCM_PATH rocm_path)
    _cudaops_env(HIP_DEVICE_LIB_PATH device_lib_path)
    _cudaops_probe(
      plan
      FILES "${compiler}" "${device_libs}" "${root}/include/hip/hip_version.h"
      MATCHALL "-mlink-builtin-bitcode\" \"[^\"]*/ocml\\.bc|cannot find [^\n]*"
      STREAM ERROR
      ENVIRONMENT "ROCM_PATH=" "HIP_DEVICE_LIB_PATH="
      COMMAND "${compiler}" -x hip --cuda-device-only "-###" -c "${source}" -o /dev/null
    )
    if(rocm_path OR device_lib_path OR NOT plan_OUTPUT MATCHES "bitcode\" \"([^\"]*)/ocml\\.bc")
      set(flags "--rocm-path=${root}" "--rocm-device-lib-path=${device_libs}")
    else()
      file(REAL_PATH "${CMAKE_MATCH_1}" used)
      file(REAL_PATH "${device_libs}" wanted)
      if(NOT used STREQUAL wanted)
        set(flags "--rocm-path=${root}" "--rocm-device-lib-path=${device_libs}")
      endif()
    endif()
    _cudaops_state_set(ROCM_FLAGS "${flags}")
    _cudaops_state_set(ROCM_FLAGS_KNOWN TRUE)
  endif()
  _cudaops_state_get(ROCM_FLAGS flags)
  set(${out} "${flags}" PARENT_SCOPE)
endfunction()

# _cudaops_hip_check_archs(<out-problem> <arch>...)
#
# Whether the compiler builds for all of these at once; <out-problem> is its own sentence. An unknown name, a missing
# device library and variants that can't stand side by side are all told by an empty compile.
function(_cudaops_hip_check_archs out)
  _cudaops_state_get(ROCM_COMPILER compiler)
  _cudaops_state_get(ROCM_DEVICE_LIB_DIR device_libs)
  _cudaops_hip_flags(flags)
  set(options "")
  foreach(arch IN LISTS ARGN)
    list(APPEND options "--offload-arch=${arch}")
  endforeach()
  _cudaops_probe(
    empty
    FILES "${compiler}" "${device_libs}"
    MACHINE
    COMMAND "${compiler}" -x hip ${flags} ${options} --cuda-device-only -nogpuinc -c /dev/null -o /dev/null
  )
  _cudaops_compiler_error("${empty_EXIT}" "${empty_ERROR}" problem)
  set(${out} "${problem}" PARENT_SCOPE)
endfunction()

# _cudaops_compiler_error(<exit> <text> <out>): the line of a compiler's output that says what is wrong, or empty.
function(_cudaops_compiler_error exit text out)
  set(${out} "" PARENT_SCOPE)
  if(exit STREQUAL "0")
    return()
  endif()
  _cudaops_error_line("${text}" line)
  string(REGEX REPLACE "^([^:]*/)?[^/: ]*clang[^/: ]*: error: " "" line "${line}")
  if(line STREQUAL "")
    set(line "exit code ${exit}")
  endif()
  set(${out} "${line}" PARENT_SCOPE)
endfunction()
