# SPDX-License-Identifier: Apache-2.0
# The GPUs of this machine, as the driver names them.

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

include("${CMAKE_CURRENT_LIST_DIR}/probe.cmake")

# _cudaops_visible_gpus(<out>)
#
# Compute capabilities (9.0;12.1) of the GPUs that a program started here would see, each once; empty without a GPU or
# without a driver that answers. Costs one look for nvidia-smi where there is none.
function(_cudaops_visible_gpus out)
  set(${out} "" PARENT_SCOPE)
  if(DEFINED ENV{CUDA_VISIBLE_DEVICES} AND "$ENV{CUDA_VISIBLE_DEVICES}" MATCHES "^ *(-|$)")
    return()
  endif()
  find_program(
    smi
    NAMES nvidia-smi
    HINTS /usr/bin /usr/lib/wsl/lib NO_CACHE
    NO_PACKAGE_ROOT_PATH
    NO_CMAKE_PATH
    NO_CMAKE_ENVIRONMENT_PATH
    NO_CMAKE_SYSTEM_PATH
    NO_CMAKE_FIND_ROOT_PATH
  )
  if(NOT smi)
    return()
  endif()
  # A driver in trouble answers late or never; nothing here is worth a long wait.
  _cudaops_run(smi TIMEOUT 20 COMMAND "${smi}" --query-gpu=index,uuid,compute_cap --format=csv,noheader)
  if(smi_EXIT STREQUAL "0")
    _cudaops_gpus_read("${smi_OUTPUT}" "$ENV{CUDA_VISIBLE_DEVICES}" "$ENV{CUDA_DEVICE_ORDER}" gpus)
    set(${out} "${gpus}" PARENT_SCOPE)
  endif()
endfunction()

# _cudaops_gpus_read(<text of nvidia-smi> <CUDA_VISIBLE_DEVICES> <CUDA_DEVICE_ORDER> <out>)
#
# nvidia-smi knows nothing of CUDA_VISIBLE_DEVICES. Its indices are those of CUDA only with CUDA_DEVICE_ORDER=PCI_BUS_ID
# or where all GPUs are alike; where they can't be told apart, all count.
function(_cudaops_gpus_read text visible order out)
  string(REGEX MATCHALL "[0-9]+, *[A-Za-z0-9-]+, *[0-9]+\\.[0-9]+" lines "${text}")
  set(all "")
  set(chosen "")
  string(REGEX REPLACE "[ ,]+" ";" visible "${visible}")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^([0-9]+), *([A-Za-z0-9-]+), *([0-9]+\\.[0-9]+)$" ignored "${line}")
    set(index "${CMAKE_MATCH_1}")
    set(uuid "${CMAKE_MATCH_2}")
    set(cc "${CMAKE_MATCH_3}")
    list(APPEND all "${cc}")
    foreach(item IN LISTS visible)
      # CUDA takes the beginning of a UUID, too.
      string(FIND "${uuid}" "${item}" position)
      if((item MATCHES "^GPU-" AND position EQUAL 0) OR (item STREQUAL index AND order STREQUAL "PCI_BUS_ID"))
        list(APPEND chosen "${cc}")
      endif()
    endforeach()
  endforeach()
  if(chosen STREQUAL "")
    set(chosen "${all}")
  endif()
  list(REMOVE_DUPLICATES chosen)
  list(SORT chosen COMPARE NATURAL)
  set(${out} "${chosen}" PARENT_SCOPE)
endfunction()
