# SPDX-License-Identifier: Apache-2.0
# What is done for an op at the end of its directory, when everything is known that its author says about it.

_cudaops_use(arch/spell base/hooks base/message base/package base/programs base/state base/text match/interfaces match/openmp op/audit op/provenance)

# _cudaops_op_not_built(<target> SHARED|MODULE <reason>)
#
# The target exists, so that the consumer's calls on it need no if(). Whoever builds it reads why it can't be built.
function(_cudaops_op_not_built target type reason)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/CudaOps/${target}_not_built.cpp")
  string(REGEX REPLACE "[\r\n]+" " " reason "${reason}")
  file(CONFIGURE OUTPUT "${source}" CONTENT "#error \"${target} is NOT_BUILT: ${reason}\"\n" @ONLY)
  add_library(${target} ${type} "${source}")
  set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON LINKER_LANGUAGE CXX)
endfunction()

# Two modules called _C in one directory would overwrite each other, which Makefiles do in silence.
function(_cudaops_op_check_file target)
  _cudaops_op_library_path(${target} file)
  _cudaops_state_get(OPS ops)
  foreach(other IN LISTS ops)
    if(NOT other STREQUAL target AND file)
      _cudaops_op_library_path(${other} taken)
      if(taken STREQUAL file)
        _cudaops_stop(
          "add_torch_op(${target}): two ops make the same file."
          FACTS "found   ${file}, made by ${other} too"
          FIX "another PYTHON_MODULE or OUTPUT_NAME"
              "or INSTALL <package>, which is a directory of the build tree too"
              "or a directory of its own: set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY <dir>)"
        )
      endif()
    endif()
  endforeach()
endfunction()

# _cudaops_op_finish(<target>): device link, architectures with those of linked kernels, provenance, audit.
function(_cudaops_op_finish target)
  _cudaops_target_get(${target} PACKAGE package)
  if(NOT package STREQUAL "")
    _cudaops_use(op/package)
    _cudaops_op_package_finish(${target})
  endif()
  _cudaops_target_get(${target} STATE state)
  if(state STREQUAL "NOT_BUILT")
    return()
  endif()
  _cudaops_op_check_file(${target})
  _cudaops_check_libraries(add_torch_op ${target})
  _cudaops_target_get(${target} ARCHITECTURES archs)
  _cudaops_op_linked_kernels(${target} kernels)
  _cudaops_openmp_note(${target} ${kernels_LINKED})
  foreach(library IN LISTS kernels)
    _cudaops_target_get(${library} ARCHITECTURES more)
    list(APPEND archs ${more})
  endforeach()
  _cudaops_link_kernels_device(${target} ${kernels})
  list(REMOVE_DUPLICATES archs)
  _cudaops_target_set(${target} ARCHITECTURES "${archs}")
  _cudaops_op_note(${target} "${archs}")
  _cudaops_target_get(${target} ABI abi)
  if(abi STREQUAL "STABLE")
    _cudaops_announce(stable_op ${target})
  endif()

  # The audit looks at this file: code of a SHARED kernels library is in that one.
  set(expect "")
  _cudaops_target_get(${target} GPU gpu)
  if(gpu AND archs)
    set(expect "${archs}")
    if(gpu STREQUAL "CUDA")
      _cudaops_arch_fatbin(expect ${archs})
    endif()
    _cudaops_python_tool(python)
    _cudaops_op_audit(${target} EXPECT ${expect} PYTHON "${python}")
  endif()
endfunction()

# _cudaops_finish_device_link(<target>)
#
# Kernels that were compiled for separate linking need a device link in what links them; CMake looks at the property of
# that target only.
function(_cudaops_finish_device_link target)
  _cudaops_op_linked_kernels(${target} kernels)
  _cudaops_link_kernels_device(${target} ${kernels})
endfunction()

function(_cudaops_link_kernels_device target)
  foreach(library IN LISTS ARGN)
    get_target_property(separable ${library} CUDA_SEPARABLE_COMPILATION)
    if(NOT separable)
      continue()
    endif()
    get_target_property(resolve ${target} CUDA_RESOLVE_DEVICE_SYMBOLS)
    if(resolve MATCHES "-NOTFOUND$")
      set_property(TARGET ${target} PROPERTY CUDA_RESOLVE_DEVICE_SYMBOLS ON)
    endif()
    # A target without device code of its own links for the architectures of the kernels.
    _cudaops_target_get(${target} ARCHITECTURES own)
    if(own STREQUAL "")
      get_target_property(archs ${library} CUDA_ARCHITECTURES)
      set_property(TARGET ${target} PROPERTY CUDA_ARCHITECTURES "${archs}")
    endif()
  endforeach()
endfunction()

# The kernels targets that <target> links, directly or through other targets of this build; <out>_LINKED has all targets.
function(_cudaops_op_linked_kernels target out)
  _cudaops_linked_targets(${target} linked)
  set(result "")
  foreach(library IN LISTS linked)
    _cudaops_target_get(${library} KIND kind)
    get_target_property(type ${library} TYPE)
    if(kind STREQUAL "KERNELS" AND NOT type STREQUAL "SHARED_LIBRARY")
      list(APPEND result "${library}")
    endif()
  endforeach()
  set(${out} "${result}" PARENT_SCOPE)
  set(${out}_LINKED "${linked}" PARENT_SCOPE)
endfunction()

# The op's provenance. No path of this machine goes into it.
function(_cudaops_op_note target archs)
  foreach(
    key
    IN
    ITEMS STATE REASON_CODE REASON ABI TORCH_TARGET PYTHON_MODULE PROJECT GPU
  )
    _cudaops_target_get(${target} ${key} value)
    set(${key} "${value}")
  endforeach()
  set(runtime "")
  set(toolkit "")
  set(rocm "")
  if(GPU STREQUAL "HIP")
    _cudaops_state_get(ROCM_VERSION rocm)
  elseif(GPU STREQUAL "CUDA")
    _cudaops_state_get(TOOLKIT_VERSION toolkit)
    get_target_property(runtime ${target} CUDA_RUNTIME_LIBRARY)
    if(NOT runtime)
      set(runtime "static")
    endif()
    string(TOLOWER "${runtime}" runtime)
    if(runtime STREQUAL "shared")
      string(REGEX MATCH "^[0-9]+" major "${toolkit}")
      _cudaops_status("add_torch_op(${target}): linked to the shared CUDA runtime: it runs with a torch for CUDA ${major} only")
    endif()
  endif()
  set(version "")
  _cudaops_state_get(PACKAGE_DIR package)
  if(package)
    _cudaops_package_version("${package}" version)
  endif()
  _cudaops_state_get(TORCH_VERSION torch)
  _cudaops_state_get(TORCH_CUDA torch_cuda)
  _cudaops_state_get(TORCH_HIP torch_hip)
  set(backend CPU)
  if(GPU)
    set(backend ${GPU})
  endif()
  set(json "")
  foreach(
    pair
    IN
    ITEMS
      cudaops:version
      state:STATE
      reason_code:REASON_CODE
      reason:REASON
      abi:ABI
      torch_target:TORCH_TARGET
      torch:torch
      torch_cuda:torch_cuda
      torch_hip:torch_hip
      backend:backend
      rocm:rocm
      toolkit:toolkit
      cuda_runtime:runtime
      python_module:PYTHON_MODULE
  )
    string(REPLACE ":" ";" pair "${pair}")
    list(GET pair 0 key)
    list(GET pair 1 variable)
    _cudaops_json_quote(value "${${variable}}")
    list(APPEND json "\"${key}\":${value}")
  endforeach()
  _cudaops_json_list(list "${archs}")
  list(APPEND json "\"architectures\":${list}")
  list(JOIN json "," json)
  _cudaops_op_held(${target} code)
  _cudaops_op_provenance(${target} NAME "${target}" PROJECT "${PROJECT}" JSON "{${json}}" CODE "${code}")
endfunction()

# Where the library of an op will be (of the default configuration, where there are several): exact unless a generator
# expression names its directory.
function(_cudaops_op_library_path target out)
  set(${out} "" PARENT_SCOPE)
  if(NOT TARGET ${target})
    return()
  endif()
  _cudaops_target_get(${target} STATE state)
  if(state STREQUAL "NOT_BUILT")
    return()
  endif()
  get_target_property(directory ${target} LIBRARY_OUTPUT_DIRECTORY)
  if(NOT directory)
    get_target_property(directory ${target} BINARY_DIR)
  endif()
  get_property(multi GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(multi)
    set(configs ${CMAKE_DEFAULT_BUILD_TYPE} ${CMAKE_CONFIGURATION_TYPES})
    list(GET configs 0 config)
    if(directory MATCHES "\\$<")
      string(REPLACE "$<CONFIG>" "${config}" directory "${directory}")
    else()
      string(APPEND directory "/${config}")
    endif()
  endif()
  get_target_property(prefix ${target} PREFIX)
  if(prefix MATCHES "-NOTFOUND$")
    set(prefix "lib")
  endif()
  get_target_property(suffix ${target} SUFFIX)
  if(suffix MATCHES "-NOTFOUND$")
    set(suffix ".so")
  endif()
  get_target_property(name ${target} OUTPUT_NAME)
  if(NOT name)
    set(name "${target}")
  endif()
  set(${out} "${directory}/${prefix}${name}${suffix}" PARENT_SCOPE)
endfunction()
