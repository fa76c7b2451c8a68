# SPDX-License-Identifier: Apache-2.0
# The match of a build tree: made once (match/decide), and taken as it was where nothing that it follows from has changed.

_cudaops_use(base/message base/options base/replay base/state base/store match/inputs)

# _cudaops_match_begin(<out-first>)
#
# <out-first> is TRUE for the call that makes the match of this build tree. A later one with other inputs would have to
# answer with facts that don't belong to them, so it is refused.
function(_cudaops_match_begin out_first)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if("${PROJECT_NAME}" STREQUAL "")
    _cudaops_stop(
      "find_package(CudaTorchMatch): comes before project()."
      FACTS "found   ${CMAKE_CURRENT_SOURCE_DIR}/CMakeLists.txt" "wanted  a project() with the language CXX before it"
      FIX "project(my_ops LANGUAGES CXX)"
    )
  endif()
  if(NOT "CXX" IN_LIST languages)
    _cudaops_stop(
      "find_package(CudaTorchMatch): needs CXX."
      FACTS "found   project(${PROJECT_NAME}) with languages: ${languages}" "wanted  CXX among them; CUDA is enabled here"
      FIX "project(${PROJECT_NAME} LANGUAGES CXX)"
    )
  endif()
  if(NOT CudaTorchMatch_FIND_COMPONENTS STREQUAL "")
    foreach(component IN LISTS CudaTorchMatch_FIND_COMPONENTS)
      if(NOT component MATCHES "^(CUDA|HIP)$")
        _cudaops_stop(
          "find_package(CudaTorchMatch): there is no component ${component}."
          FACTS "found   COMPONENTS ${CudaTorchMatch_FIND_COMPONENTS}" "wanted  CUDA or HIP"
          FIX "find_package(CudaTorchMatch REQUIRED COMPONENTS CUDA)"
        )
      endif()
    endforeach()
  endif()

  _cudaops_match_inputs(inputs)
  _cudaops_state_get(MATCH_PLACE place)
  if(place STREQUAL "")
    _cudaops_state_set(MATCH_INPUTS "${inputs}")
    _cudaops_state_set(MATCH_PLACE "${CMAKE_CURRENT_SOURCE_DIR}")
    set(${out_first} TRUE PARENT_SCOPE)
    return()
  endif()
  set(${out_first} FALSE PARENT_SCOPE)
  _cudaops_state_get(MATCH_INPUTS first)
  foreach(before now IN ZIP_LISTS first inputs)
    if(before STREQUAL now)
      continue()
    endif()
    string(REGEX MATCH "^[^=]+" name "${now}")
    string(REGEX REPLACE "^[^=]+=" "" value_before "${before}")
    string(REGEX REPLACE "^[^=]+=" "" value_now "${now}")
    _cudaops_use(match/explain)
    _cudaops_match_same_torch("${name}" "${value_before}" "${value_now}" same)
    if(same)
      continue()
    endif()
    _cudaops_stop(
      "find_package(CudaTorchMatch): one build tree has one match."
      FACTS
        "first   ${name}=${value_before} (${place}/CMakeLists.txt)"
        "now     ${name}=${value_now} (${CMAKE_CURRENT_SOURCE_DIR}/CMakeLists.txt)"
      FIX "set ${name} once, before the first find_package(CudaTorchMatch)"
    )
  endforeach()
endfunction()

# _cudaops_match_later_request(<out> <out-missing>)
#
# Where the match isn't what a later call asks for: a sentence for CMake's, and <out-missing> is emptied where it is the torch.
function(_cudaops_match_later_request out out_missing)
  set(${out} "" PARENT_SCOPE)
  _cudaops_state_read(BACKEND MATCH_PLACE TORCH_VERSION TORCH_RELEASE)
  set(rule "one build tree has one match, that of ${MATCH_PLACE}/CMakeLists.txt")
  foreach(component IN LISTS CudaTorchMatch_FIND_COMPONENTS)
    if(NOT component STREQUAL BACKEND)
      set(${out} "${rule}, which is for ${BACKEND}" PARENT_SCOPE)
    endif()
  endforeach()
  _cudaops_use(facts/torch)
  _cudaops_version_wanted("${TORCH_RELEASE}" wanted)
  if(NOT wanted)
    set(asked "torch ${TORCH_VERSION}, and here ${CudaTorchMatch_FIND_VERSION_COMPLETE} is asked for")
    set(${out} "${rule}, with ${asked}. Fix: ask for it there, or -DPython_EXECUTABLE=<one with it>" PARENT_SCOPE)
    set(${out_missing} "" PARENT_SCOPE)
  endif()
endfunction()

# _cudaops_match_resolve(): the match, in the state: BACKEND is CUDA or HIP, or CPU with REASON_CODE and REASON.
#
# Only a match with CUDA and without a warning is kept: what is wrong is looked at again, and said again.
function(_cudaops_match_resolve)
  _cudaops_check_options()
  _cudaops_check_store()
  _cudaops_check_build_type()
  _cudaops_check_cxx()
  _cudaops_replay_inputs(inputs)
  _cudaops_replay_open("${inputs}")
  set(keys "ARCHITECTURES;ARCHITECTURES_REQUESTED;ARCHITECTURES_SOURCE;ARCHITECTURES_VARIABLE;BACKEND")
  list(APPEND keys "CANDIDATES;COMPATIBLE_VERSIONS;GPUS;HOST_COMPILER;HOST_COMPILER_GIVEN;HOST_COMPILER_ID")
  list(APPEND keys "HOST_COMPILER_SOURCE;HOST_COMPILER_VERSION;MATCH_REQUESTS;TOOLKIT_FIX;TOOLKIT_HOST_CONFIG")
  list(APPEND keys "TOOLKIT_INCLUDE_DIRS;TOOLKIT_LIB_DIR;TOOLKIT_NVCC;TOOLKIT_PROBLEM;TOOLKIT_ROOT;TOOLKIT_SOURCE")
  list(APPEND keys "TOOLKIT_VERSION;VERDICT;VERSION_POLICY")
  _cudaops_match_requests(requests)
  _cudaops_state_get(MATCH_REQUESTS requests_before)
  _cudaops_state_get(GPUS gpus_before)
  _cudaops_state_set(GPUS "")
  if(requests STREQUAL requests_before AND NOT gpus_before STREQUAL "")
    # The one thing that no file tells.
    _cudaops_use(facts/gpus)
    _cudaops_gpus(ignored)
  endif()
  _cudaops_state_get(GPUS gpus)
  if(NOT requests STREQUAL requests_before OR NOT gpus STREQUAL gpus_before)
    _cudaops_replay_forget(MATCH)
    foreach(key IN LISTS keys)
      _cudaops_state_set(${key} "")
    endforeach()
    _cudaops_state_set(GPUS "${gpus}")
    _cudaops_state_set(MATCH_REQUESTS "${requests}")
  endif()
  _cudaops_replay_begin(MATCH known)
  _cudaops_state_set(MATCH_KNOWN "${known}")
  if(NOT known)
    _cudaops_use(match/decide)
    _cudaops_match_decide()
    _cudaops_state_get(BACKEND backend)
    if(backend STREQUAL "CUDA")
      _cudaops_replay_end(MATCH ${keys})
    else()
      _cudaops_replay_drop(MATCH)
    endif()
  endif()
endfunction()
