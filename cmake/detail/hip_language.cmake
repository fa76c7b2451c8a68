# SPDX-License-Identifier: Apache-2.0
# Everything around enabling the HIP language: architectures that the compiler knows, a trial before, the options that
# CMake needs on layouts it doesn't know, what it keeps of an earlier configure. The enable_language() itself stands in
# FindCudaTorchMatch.cmake: inside a function it would be broken for the caller.

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

if(NOT COMMAND _cudaops_use)
  include("${CMAKE_CURRENT_LIST_DIR}/use.cmake")
endif()
_cudaops_use(message probe state)

# _cudaops_hip_flags(<out>): what clang needs to find ROCm's pieces, as a list; empty where it finds them itself.
#
# Asked of the compiler, because no rule says it: AMD's clang looks around itself, a distribution's may not.
function(_cudaops_hip_flags out)
  _cudaops_state_get(ROCM_FLAGS_KNOWN known)
  if(NOT known)
    _cudaops_state_get(ROCM_COMPILER compiler)
    _cudaops_state_get(ROCM_ROOT root)
    _cudaops_state_get(ROCM_DEVICE_LIB_DIR device_libs)
    cmake_path(SET source NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../tools/trial.hip")
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

# _cudaops_hip_environment(<flags-or-saved>): called before enable_language(HIP) with a variable that holds the flags, and
# after it with the same variable, which then holds what is to be put back.
#
# CMake 3.25 cuts CMAKE_HIP_FLAGS at blanks when it identifies the compiler, and then tries without them: clang must find
# a ROCm whose path has a blank by the environment then.
function(_cudaops_hip_environment variable)
  set(names ROCM_PATH HIP_DEVICE_LIB_PATH)
  _cudaops_state_get(ROCM_ROOT root)
  _cudaops_state_get(ROCM_DEVICE_LIB_DIR device_libs)
  set(values "${root}" "${device_libs}")
  if("${${variable}}" MATCHES "^saved;(.*);(.*)$")
    set(values "${CMAKE_MATCH_1}" "${CMAKE_MATCH_2}")
  elseif("${${variable}}" MATCHES " ")
    set(${variable} "saved;$ENV{ROCM_PATH};$ENV{HIP_DEVICE_LIB_PATH}" PARENT_SCOPE)
  else()
    return()
  endif()
  foreach(name value IN ZIP_LISTS names values)
    set(ENV{${name}} "${value}")
  endforeach()
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

# _cudaops_hip_trial(<arch> <out-problem>): one kernel with HIP's header.
function(_cudaops_hip_trial arch out)
  _cudaops_state_get(ROCM_COMPILER compiler)
  _cudaops_state_get(ROCM_ROOT root)
  _cudaops_state_get(ROCM_DEVICE_LIB_DIR device_libs)
  _cudaops_hip_flags(flags)
  separate_arguments(own NATIVE_COMMAND "${CMAKE_HIP_FLAGS}")
  cmake_path(SET source NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../tools/trial.hip")
  _cudaops_probe(
    trial
    FILES "${compiler}" "${device_libs}" "${root}/include/hip/hip_runtime.h"
    MACHINE
    COMMAND "${compiler}" -x hip ${own} ${flags} --offload-arch=${arch} --cuda-device-only -c "${source}" -o /dev/null
  )
  _cudaops_compiler_error("${trial_EXIT}" "${trial_ERROR}" problem)
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

# _cudaops_hip_rocm_root(<out>): the value for CMAKE_HIP_COMPILER_ROCM_ROOT.
#
# CMake before 3.28 looks for hip-lang in <root>/lib only, which is not where multi-arch distributions have it: a
# directory of ours then stands for the root.
function(_cudaops_hip_rocm_root out)
  _cudaops_state_get(ROCM_ROOT root)
  _cudaops_state_get(ROCM_HIP_LANG_DIR hip_lang)
  if(NOT EXISTS "${root}/lib/cmake/hip-lang/hip-lang-config.cmake")
    set(root "${CMAKE_CURRENT_BINARY_DIR}/CudaOps/rocm")
    file(MAKE_DIRECTORY "${root}/lib/cmake")
    file(CREATE_LINK "${hip_lang}" "${root}/lib/cmake/hip-lang" SYMBOLIC)
  endif()
  set(${out} "${root}" PARENT_SCOPE)
endfunction()

# _cudaops_hip_forget()
#
# CMake keeps the compiler of the first configure whatever is set later. When its record names another one than the
# chosen it is removed, so that CMake looks again.
function(_cudaops_hip_forget)
  set(record "${CMAKE_PLATFORM_INFO_DIR}/CMakeHIPCompiler.cmake")
  if(NOT EXISTS "${record}")
    return()
  endif()
  _cudaops_state_get(ROCM_COMPILER compiler)
  _cudaops_state_get(ROCM_COMPILER_VERSION version)
  file(STRINGS "${record}" lines REGEX "^set\\(CMAKE_HIP_COMPILER(_VERSION)? \"" ENCODING UTF-8)
  if(NOT "${lines}" MATCHES "CMAKE_HIP_COMPILER \"([^\"]*)\"")
    return()
  endif()
  set(recorded "${CMAKE_MATCH_1}")
  string(REGEX MATCH "CMAKE_HIP_COMPILER_VERSION \"([^\"]*)\"" ignored "${lines}")
  set(recorded_version "${CMAKE_MATCH_1}")
  if(NOT recorded STREQUAL compiler OR NOT recorded_version STREQUAL version)
    _cudaops_verbose("HIP is detected anew: ${recorded} ${recorded_version} was recorded, ${compiler} ${version} is chosen")
    file(REMOVE "${record}")
  endif()
endfunction()
