# SPDX-License-Identifier: Apache-2.0
# The requested architectures, from variables, environment and GPUs, and those that are built. Written once for CUDA and
# HIP: arch/cuda and arch/hip read a list, find the GPUs, and resolve words.

_cudaops_use(base/message base/options base/state)

# _cudaops_arch_backend(<CUDA|HIP> <prefix>)
#
#   <prefix>_VARIABLES  variables, and environment variables of the same names, behind CMAKE_<gpu>_ARCHITECTURES
#   <prefix>_ACCEPTED   the spellings, for the facts of an error;  <prefix>_EXAMPLE  a list that is right
#   <prefix>_PARSE _GPUS _RESOLVE  functions: a text to entries, the visible GPUs, entries without words
function(_cudaops_arch_backend gpu prefix)
  if(gpu STREQUAL "HIP")
    _cudaops_use(arch/hip)
    set(variables PYTORCH_ROCM_ARCH AMDGPU_TARGETS GPU_TARGETS)
    set(accepted "gfx90a, gfx942:xnack-, native, common")
    set(example gfx90a gfx942)
    set(functions _cudaops_hip_arch_parse _cudaops_visible_amd_gpus _cudaops_hip_arch_resolve)
  else()
    _cudaops_use(arch/cuda arch/grammar arch/select arch/spell)
    set(variables TORCH_CUDA_ARCH_LIST)
    _cudaops_arch_accepted(accepted FALSE)
    set(example 80 90)
    set(functions _cudaops_arch_parse _cudaops_gpus _cudaops_arch_resolve)
  endif()
  foreach(name IN ITEMS VARIABLES ACCEPTED EXAMPLE)
    string(TOLOWER ${name} value)
    set(${prefix}_${name} "${${value}}" PARENT_SCOPE)
  endforeach()
  set(names PARSE GPUS RESOLVE)
  foreach(name value IN ZIP_LISTS names functions)
    set(${prefix}_${name} ${value} PARENT_SCOPE)
  endforeach()
endfunction()

# _cudaops_arch_match(<CUDA|HIP> <out-problem>)
#
# The build tree's architectures: request, words to architectures, each checked with the compiler. Ends the configure
# where the request can't be read or built; <out-problem> says that nothing is requested and nothing can be taken instead.
# Fills the state: ARCHITECTURES (canonical), ARCHITECTURES_REQUESTED (text), ARCHITECTURES_SOURCE (where it came from),
# ARCHITECTURES_VARIABLE (for CMAKE_<gpu>_ARCHITECTURES once the language is enabled). Needs the torch, and the toolkit or
# ROCm, in the state.
function(_cudaops_arch_match gpu out_problem)
  set(${out_problem} "" PARENT_SCOPE)
  _cudaops_arch_backend(${gpu} backend)
  _cudaops_arch_request(${gpu} request)
  cmake_language(
    CALL ${backend_RESOLVE}
    resolved
    CALLER
    "find_package(CudaTorchMatch)"
    REQUEST
    ${request_ENTRIES}
    TEXT
    "${request_TEXT}"
    SOURCE
    "${request_SOURCE}"
  )
  if(resolved STREQUAL "" AND gpu STREQUAL "HIP")
    set(
      ${out_problem}
      "no architecture is requested, no AMD GPU is visible, and torch's library doesn't say what it was built for"
      PARENT_SCOPE
    )
    return()
  endif()
  set(variable "${resolved}")
  if(gpu STREQUAL "CUDA")
    _cudaops_arch_spell(variable ${resolved})
  endif()
  _cudaops_state_set(ARCHITECTURES "${resolved}")
  _cudaops_state_set(ARCHITECTURES_REQUESTED "${request_TEXT}")
  _cudaops_state_set(ARCHITECTURES_SOURCE "${request_SOURCE}")
  _cudaops_state_set(ARCHITECTURES_VARIABLE "${variable}")
endfunction()

# _cudaops_arch_request(<CUDA|HIP> <prefix>)
#
# The first that says something; an empty or OFF one says nothing (OFF in the cache alone is worth a warning):
#   CUDA  CMAKE_CUDA_ARCHITECTURES · environment CUDAARCHS · TORCH_CUDA_ARCH_LIST (variable, then environment)
#   HIP   CMAKE_HIP_ARCHITECTURES · PYTORCH_ROCM_ARCH · AMDGPU_TARGETS · GPU_TARGETS (each variable, then environment)
#   then the visible GPUs, except in a wheel build · common
# Others that ask for something else are named: a STATUS line, or a WARNING where both are variables of CUDA's.
#
#   <prefix>_ENTRIES  canonical entries and words
#   <prefix>_SOURCE   "CMAKE_CUDA_ARCHITECTURES", "environment TORCH_CUDA_ARCH_LIST", "visible GPUs", "default"
#   <prefix>_TEXT     as it was written there
function(_cudaops_arch_request gpu prefix)
  set(caller "find_package(CudaTorchMatch)")
  _cudaops_arch_backend(${gpu} backend)
  set(cudaarchs "")
  if(gpu STREQUAL "CUDA")
    _cudaops_env(CUDAARCHS cudaarchs)
  endif()
  _cudaops_arch_cmake_request(${gpu} "${cudaarchs}" from_variable from_cmake)
  if(cudaarchs STREQUAL "")
    set(cudaarchs "${from_cmake}")
  endif()
  set(names CMAKE_${gpu}_ARCHITECTURES "environment CUDAARCHS")
  set(values from_variable cudaarchs)
  foreach(name IN LISTS backend_VARIABLES)
    _cudaops_env(${name} environment_${name})
    set(variable_${name} "${${name}}")
    get_property(help CACHE ${name} PROPERTY HELPSTRING)
    if(variable_${name} STREQUAL environment_${name} OR help MATCHES "AMD GPU targets|GPU architectures")
      # find_package(Torch) copies the environment; find_package(hip) caches a default of its own.
      set(variable_${name} "")
    endif()
    list(APPEND names ${name} "environment ${name}")
    list(APPEND values variable_${name} environment_${name})
  endforeach()

  set(source "")
  foreach(name value IN ZIP_LISTS names values)
    set(text "${${value}}")
    if(text MATCHES "^[ ;,]*$" OR (gpu STREQUAL "HIP" AND NOT text))
      continue()
    endif()
    cmake_language(CALL ${backend_PARSE} "${text}" entries error meant)
    if(gpu STREQUAL "HIP")
      string(REGEX REPLACE "[\\\\; ,]+" " " text "${text}")
      string(STRIP "${text}" text)
    endif()
    if(source STREQUAL "")
      if(error)
        if(meant STREQUAL "")
          set(meant "${backend_EXAMPLE}")
        endif()
        _cudaops_arch_fix(fix ${gpu} "${meant}")
        _cudaops_stop(
          "${caller}: ${error}"
          FACTS "found     ${text} (from ${name})" "accepted  ${backend_ACCEPTED}"
          FIX "${fix}"
        )
      endif()
      set(source "${name}")
      set(source_text "${text}")
      set(source_entries "${entries}")
    elseif(NOT error)
      _cudaops_arch_same("${source_entries}" "${entries}" same)
      if(same)
        continue()
      elseif(gpu STREQUAL "HIP" OR "${source}${name}" MATCHES "environment")
        _cudaops_status("CudaOps: architectures ${source_text} (${source}); ${name} asks for ${text} and is not used")
      else()
        _cudaops_warn(
          "${caller}: two variables ask for different architectures."
          FACTS "used      ${source} = ${source_text}" "not used  ${name} = ${text}"
          FIX "-U${name}" "or set(${name}) to the same list"
        )
      endif()
    endif()
  endforeach()

  if(source STREQUAL "")
    set(source "default")
    set(source_text "common")
    set(source_entries "common")
    _cudaops_wheel_build(wheel)
    if(NOT wheel)
      cmake_language(CALL ${backend_GPUS} gpus)
      if(gpus)
        set(source "visible GPUs")
        list(JOIN gpus " " source_text)
        set(source_entries "native")
      endif()
    endif()
    list(GET backend_EXAMPLE -1 example)
    _cudaops_arch_warn_of_off("${caller}" CMAKE_${gpu}_ARCHITECTURES "${source_text} (${source})" ${example})
  endif()
  set(${prefix}_ENTRIES "${source_entries}" PARENT_SCOPE)
  set(${prefix}_SOURCE "${source}" PARENT_SCOPE)
  set(${prefix}_TEXT "${source_text}" PARENT_SCOPE)
endfunction()

# What CMAKE_<gpu>_ARCHITECTURES says: <out-variable> is the user's own value; <out-environment> what CMake put there
# from CUDAARCHS. Its own default is neither.
function(_cudaops_arch_cmake_request gpu cudaarchs out_variable out_environment)
  set(${out_variable} "" PARENT_SCOPE)
  set(${out_environment} "" PARENT_SCOPE)
  set(cached "$CACHE{CMAKE_${gpu}_ARCHITECTURES}")
  set(value "${CMAKE_${gpu}_ARCHITECTURES}")
  _cudaops_state_get(ARCHITECTURES_VARIABLE ours)
  # OFF is set by find_package(Torch), and hides the user's value in the cache. A value of CudaOps comes from an
  # earlier call in a parent directory.
  if(NOT value OR (ours AND value STREQUAL ours))
    set(value "${cached}")
  endif()
  if(NOT value)
    return()
  endif()
  get_property(help CACHE CMAKE_${gpu}_ARCHITECTURES PROPERTY HELPSTRING)
  if(NOT value STREQUAL cached OR NOT help STREQUAL "${gpu} architectures")
    set(${out_variable} "${value}" PARENT_SCOPE)
  elseif(gpu STREQUAL "CUDA" AND cudaarchs STREQUAL "")
    _cudaops_arch_compiler_default(default)
    if(NOT default STREQUAL "" AND NOT value STREQUAL default)
      set(${out_environment} "${value}" PARENT_SCOPE)
    endif()
  endif()
endfunction()

# 90 and 9.0 ask for the same arch; whether PTX comes along is no disagreement.
function(_cudaops_arch_same one other out)
  foreach(list IN ITEMS one other)
    list(TRANSFORM ${list} REPLACE "-(real|virtual)" "")
    list(REMOVE_DUPLICATES ${list})
    list(SORT ${list})
  endforeach()
  if(one STREQUAL other)
    set(${out} TRUE PARENT_SCOPE)
  else()
    set(${out} FALSE PARENT_SCOPE)
  endif()
endfunction()

# _cudaops_arch_warn_of_off(<caller> <variable> <what is built> <example>)
#
# OFF in the cache was set by the user: find_package(Torch) sets the variable of its directory. For CMake it means that
# flags choose the architecture; here it selects nothing, because the architectures of an op must be known.
function(_cudaops_arch_warn_of_off caller variable built example)
  if("$CACHE{${variable}}" MATCHES "[^ ;,]" AND NOT "$CACHE{${variable}}")
    _cudaops_warn(
      "${caller}: ${variable}=$CACHE{${variable}} names no architecture."
      FACTS "built   ${built}" "rule    the architectures of an op must be known; those of flags aren't"
      FIX "-D${variable}=${example}, or the like" "or -U${variable}   (what is built now, without this warning)"
    )
  endif()
endfunction()
