# SPDX-License-Identifier: Apache-2.0
# The GPUs of this machine, as the driver names them.

_cudaops_use(base/probe base/state)

# _cudaops_gpus(<out>): the visible GPUs, asked once a configure.
function(_cudaops_gpus out)
  _cudaops_state_get(GPUS gpus)
  if(gpus STREQUAL "")
    _cudaops_visible_gpus(gpus)
    if(gpus STREQUAL "")
      set(gpus "none")
    endif()
    _cudaops_state_set(GPUS "${gpus}")
  endif()
  if(gpus STREQUAL "none")
    set(gpus "")
  endif()
  set(${out} "${gpus}" PARENT_SCOPE)
endfunction()

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

# _cudaops_visible_amd_gpus(<out>)
#
# gfx names of the AMD GPUs that a program started here would see, each once. Read from the kernel driver's own list,
# where a CPU is a node, too, with version 0: no program has to answer, and none has to be installed.
function(_cudaops_visible_amd_gpus out)
  set(all "")
  file(GLOB nodes "/sys/class/kfd/kfd/topology/nodes/*/properties")
  list(SORT nodes COMPARE NATURAL)
  foreach(node IN LISTS nodes)
    file(STRINGS "${node}" lines REGEX "^gfx_target_version +[0-9]+")
    if(lines MATCHES "gfx_target_version +([0-9]+)")
      _cudaops_gfx_name("${CMAKE_MATCH_1}" name)
      if(name)
        list(APPEND all "${name}")
      endif()
    endif()
  endforeach()
  foreach(variable IN ITEMS ROCR_VISIBLE_DEVICES HIP_VISIBLE_DEVICES)
    if(DEFINED ENV{${variable}})
      _cudaops_amd_gpus_chosen("${all}" "$ENV{${variable}}" all)
    endif()
  endforeach()
  list(REMOVE_DUPLICATES all)
  set(${out} "${all}" PARENT_SCOPE)
endfunction()

# _cudaops_gfx_name(<version> <out>): 90010 is gfx90a: decimal major, then minor and stepping as hexadecimal digits.
function(_cudaops_gfx_name version out)
  set(${out} "" PARENT_SCOPE)
  if(version MATCHES "^[0-9]+$" AND version GREATER 9999)
    math(EXPR major "${version} / 10000")
    math(EXPR minor "${version} / 100 % 100" OUTPUT_FORMAT HEXADECIMAL)
    math(EXPR step "${version} % 100" OUTPUT_FORMAT HEXADECIMAL)
    string(REPLACE "0x" "" digits "${minor}${step}")
    set(${out} "gfx${major}${digits}" PARENT_SCOPE)
  endif()
endfunction()

# _cudaops_amd_gpus_chosen(<gpus> <value> <out>)
#
# What a *_VISIBLE_DEVICES leaves of the list: indices up to the first that isn't one. A UUID can't be told from here:
# then all count.
function(_cudaops_amd_gpus_chosen gpus value out)
  set(chosen "")
  string(REGEX REPLACE "[ ,]+" ";" items "${value}")
  list(LENGTH gpus count)
  foreach(item IN LISTS items)
    if(item MATCHES "^GPU-")
      set(${out} "${gpus}" PARENT_SCOPE)
      return()
    elseif(NOT item MATCHES "^[0-9]+$" OR NOT item LESS count)
      break()
    endif()
    list(GET gpus ${item} gpu)
    list(APPEND chosen "${gpu}")
  endforeach()
  set(${out} "${chosen}" PARENT_SCOPE)
endfunction()
