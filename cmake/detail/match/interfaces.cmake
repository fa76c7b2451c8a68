# SPDX-License-Identifier: Apache-2.0
# How the imported targets CudaOps::* are made. Those of the documentation always exist, so that linking needs no if():
# one that is needed and missing says so to whoever links it, when ops and kernels are configured, and when anything
# else is built.

_cudaops_use(base/message base/state)

# An interface of ours. Headers come by -I (SYSTEM OFF): compiler caches rewrite -I, not -isystem, of nvcc.
function(_cudaops_interface name)
  add_library(CudaOps::${name} INTERFACE IMPORTED GLOBAL)
  set_property(TARGET CudaOps::${name} PROPERTY SYSTEM OFF)
endfunction()

function(_cudaops_shared name location)
  add_library(CudaOps::${name} SHARED IMPORTED GLOBAL)
  set_target_properties(CudaOps::${name} PROPERTIES IMPORTED_LOCATION "${location}" SYSTEM OFF)
endfunction()

# _cudaops_library_names(<out>): the libraries of CUDA that have targets, on every machine.
function(_cudaops_library_names out)
  set(
    ${out}
    cublas
    cublasLt
    cusparse
    cusolver
    cufft
    curand
    nvrtc
    cudnn
    nccl
    nvml
    cuda_driver
    PARENT_SCOPE
  )
endfunction()

# _cudaops_library_problem(<name> <what> [FACTS <line>...] [FIX <line>...])
#
# Makes CudaOps::<name> a target that can't be linked. <what> is what is wrong, without a full stop. What has no device
# code here (CPU_ONLY, NOT_BUILT) may link it all the same.
function(_cudaops_library_problem name what)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "FACTS;FIX")
  _cudaops_interface(${name})
  _cudaops_target_set(CudaOps::${name} PROBLEM "${what}")
  _cudaops_target_set(CudaOps::${name} PROBLEM_FACTS "${arg_FACTS}")
  _cudaops_target_set(CudaOps::${name} PROBLEM_FIX "${arg_FIX}")
  _cudaops_state_append(LIBRARY_PROBLEMS CudaOps::${name})
  # An #error is one line.
  set(text "CudaOps::${name} can't be linked: ${what}.")
  foreach(part IN ITEMS FACTS FIX)
    list(JOIN arg_${part} "; " line)
    string(REGEX REPLACE "[ \t\r\n]+" " " line "${line}")
    if(NOT line STREQUAL "")
      string(APPEND text " ${part}: ${line}.")
    endif()
  endforeach()
  string(REPLACE " FACTS: " " " text "${text}")
  string(REPLACE " FIX: " " Fix: " text "${text}")
  string(REPLACE "\\" "/" text "${text}")
  string(REPLACE "\"" "'" text "${text}")
  set(source "${CMAKE_CURRENT_BINARY_DIR}/CudaOps/${name}_problem.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "#error \"@text@\"\n" @ONLY)
  set(state "$<TARGET_PROPERTY:_CUDAOPS_STATE>")
  set_property(
    TARGET CudaOps::${name}
    PROPERTY INTERFACE_SOURCES "$<$<NOT:$<OR:$<STREQUAL:${state},CPU_ONLY>,$<STREQUAL:${state},NOT_BUILT>>>:${source}>"
  )
  _cudaops_verbose("${text}")
endfunction()

# _cudaops_check_libraries(<command> <target>): stops where <target> links one of them. At the end of its directory.
function(_cudaops_check_libraries command target)
  _cudaops_state_get(LIBRARY_PROBLEMS problems)
  _cudaops_target_get(${target} STATE state)
  set(without_device_code CPU_ONLY NOT_BUILT)
  if(problems STREQUAL "" OR state IN_LIST without_device_code)
    return()
  endif()
  _cudaops_linked_targets(${target} linked ${without_device_code})
  foreach(library IN LISTS linked)
    if(library IN_LIST problems)
      _cudaops_target_get(${library} PROBLEM what)
      _cudaops_target_get(${library} PROBLEM_FACTS facts)
      _cudaops_target_get(${library} PROBLEM_FIX fix)
      _cudaops_stop("${command}(${target}): ${library} can't be linked: ${what}." FACTS ${facts} FIX ${fix})
    endif()
  endforeach()
endfunction()

# _cudaops_linked_targets(<target> <out> [<state>...])
#
# What <target> links, directly or through other targets, but those that only targets in one of these states link.
function(_cudaops_linked_targets target out)
  set(todo "${target}")
  set(seen "")
  while(NOT todo STREQUAL "")
    list(POP_FRONT todo current)
    get_target_property(libraries ${current} LINK_LIBRARIES)
    get_target_property(interface ${current} INTERFACE_LINK_LIBRARIES)
    foreach(library IN LISTS libraries interface)
      string(REGEX REPLACE "^\\$<(LINK_ONLY|BUILD_INTERFACE|TARGET_OBJECTS):([^>]+)>$" "\\2" library "${library}")
      if(NOT TARGET "${library}")
        continue()
      endif()
      get_target_property(aliased ${library} ALIASED_TARGET)
      if(aliased)
        set(library "${aliased}")
      endif()
      if(NOT library IN_LIST seen)
        list(APPEND seen "${library}")
        # Ours link nothing of a project's.
        if(library MATCHES "^CudaOps::")
          continue()
        endif()
        _cudaops_target_get(${library} STATE state)
        if(state STREQUAL "" OR NOT state IN_LIST ARGN)
          list(APPEND todo "${library}")
        endif()
      endif()
    endforeach()
  endwhile()
  set(${out} "${seen}" PARENT_SCOPE)
endfunction()
