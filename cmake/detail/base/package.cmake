# SPDX-License-Identifier: Apache-2.0
# Which copy of the package a build tree uses.

_cudaops_use(base/message base/state)

# _cudaops_package_check(<dir>)
#
# Commands are global in CMake: with two copies, each directory would run a mixture of both.
function(_cudaops_package_check dir)
  file(REAL_PATH "${dir}" dir)
  _cudaops_state_get(PACKAGE_DIR first)
  if(first STREQUAL "")
    _cudaops_state_set(PACKAGE_DIR "${dir}")
  elseif(NOT first STREQUAL dir)
    _cudaops_package_version("${first}" first_version)
    _cudaops_package_version("${dir}" version)
    if(version STREQUAL first_version)
      # The same release at two places (an installed one and FetchContent's): either will do.
      return()
    endif()
    _cudaops_stop(
      "find_package(CudaOps): one build tree uses one version of CudaOps."
      FACTS "found   ${version} at ${dir}" "in use  ${first_version} at ${first}"
      FIX "-DCudaOps_ROOT=<one of them>, or add_subdirectory()/FetchContent of one copy before every find_package(CudaOps)"
    )
  endif()
endfunction()

function(_cudaops_package_version dir out)
  file(STRINGS "${dir}/CudaOpsConfigVersion.cmake" line REGEX "^set\\(PACKAGE_VERSION ")
  string(REGEX REPLACE ".*\"([^\"]+)\".*" "\\1" version "${line}")
  set(${out} "${version}" PARENT_SCOPE)
endfunction()

# _cudaops_kernels_dir(<out>): of the reference kernels' sources. Installed they lie inside the package, in a checkout
# beside it; empty where this copy came without them.
function(_cudaops_kernels_dir out)
  cmake_path(GET CMAKE_CURRENT_FUNCTION_LIST_DIR PARENT_PATH package)
  cmake_path(GET package PARENT_PATH package)
  cmake_path(GET package PARENT_PATH checkout)
  set(directory "")
  if(EXISTS "${package}/kernels/ops.cmake")
    set(directory "${package}/kernels")
  elseif(EXISTS "${checkout}/kernels/ops.cmake")
    set(directory "${checkout}/kernels")
  endif()
  set(${out} "${directory}" PARENT_SCOPE)
endfunction()
