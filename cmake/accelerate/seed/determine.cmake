# SPDX-License-Identifier: Apache-2.0
# Instead of CMake's detection of _cudaops_seed_language where there is a seed, around it where there is none.
#
# No cmake_policy() here: the policies are those of the enable_language() call, which the detection depends on.

set(_cudaops_seed_policies "${CMAKE_MINIMUM_REQUIRED_VERSION}")
foreach(
  _cudaops_seed_policy
  CMP0056
  CMP0066
  CMP0067
  CMP0083
  CMP0104
  CMP0128
  CMP0137
  CMP0155
  CMP0181
  CMP0184
  CMP0194
)
  if(POLICY ${_cudaops_seed_policy})
    cmake_policy(GET ${_cudaops_seed_policy} _cudaops_seed_value)
    string(APPEND _cudaops_seed_policies " ${_cudaops_seed_value}")
  endif()
endforeach()
_cudaops_seed_use(${_cudaops_seed_language} "${_cudaops_seed_policies}")
unset(_cudaops_seed_policies)
unset(_cudaops_seed_policy)
unset(_cudaops_seed_value)

if("${_cudaops_seed_${_cudaops_seed_language}}" STREQUAL "MISS")
  _cudaops_seed_watch(${_cudaops_seed_language})
  include("${CMAKE_ROOT}/Modules/CMakeDetermine${_cudaops_seed_language}Compiler.cmake")
  _cudaops_seed_note(${_cudaops_seed_language})
elseif(NOT "${_cudaops_seed_${_cudaops_seed_language}}" STREQUAL "HIT")
  include("${CMAKE_ROOT}/Modules/CMakeDetermine${_cudaops_seed_language}Compiler.cmake")
else()
  # What CMake reads after a detection; Ninja's generator writes more where the first of these is defined.
  set(MSVC_${_cudaops_seed_language}_ARCHITECTURE_ID "")
  if(_cudaops_seed_language STREQUAL "C")
    set(CMAKE_C_COMPILER_ENV_VAR CC)
  elseif(_cudaops_seed_language STREQUAL "CXX")
    set(CMAKE_CXX_COMPILER_ENV_VAR CXX)
  else()
    set(CMAKE_CUDA_COMPILER_ENV_VAR CUDACXX)
    set(CMAKE_CUDA_HOST_COMPILER_ENV_VAR CUDAHOSTCXX)
  endif()
endif()
unset(_cudaops_seed_language)
