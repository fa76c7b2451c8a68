# SPDX-License-Identifier: Apache-2.0
# Everything around enabling the HIP language: architectures that the compiler knows, a trial before, the options that
# CMake needs on layouts it doesn't know, what it keeps of an earlier configure. The enable_language() itself stands in
# FindCudaTorchMatch.cmake: inside a function it would be broken for the caller.

_cudaops_use(base/message base/probe base/state facts/hip_compiler)

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

# _cudaops_hip_trial(<arch> <out-problem>): one kernel with HIP's header.
function(_cudaops_hip_trial arch out)
  _cudaops_state_get(ROCM_COMPILER compiler)
  _cudaops_state_get(ROCM_ROOT root)
  _cudaops_state_get(ROCM_DEVICE_LIB_DIR device_libs)
  _cudaops_hip_flags(flags)
  separate_arguments(own NATIVE_COMMAND "${CMAKE_HIP_FLAGS}")
  cmake_path(SET source NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../tools/trial.hip")
  _cudaops_probe(
    trial
    FILES "${compiler}" "${device_libs}" "${root}/include/hip/hip_runtime.h"
    MACHINE
    COMMAND "${compiler}" -x hip ${own} ${flags} --offload-arch=${arch} --cuda-device-only -c "${source}" -o /dev/null
  )
  _cudaops_compiler_error("${trial_EXIT}" "${trial_ERROR}" problem)
  set(${out} "${problem}" PARENT_SCOPE)
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
