# SPDX-License-Identifier: Apache-2.0
# What clang consists of, as a compiler of C++ and of HIP, for the compiler cache; and the headers of HIP's passes, which
# its dependency files don't name.

_cudaops_use(base/paths base/probe)

# _cudaops_cache_clang_parts(<compiler> <out-files>): distributions keep all of clang but main() in shared libraries; and
# a configuration file adds options that no command line shows.
function(_cudaops_cache_clang_parts compiler out)
  set(files "${compiler}")
  _cudaops_probe(
    libraries
    FILES "${compiler}"
    MATCHALL "=> /[^\n]*/lib(LLVM|clang|lld)[^\n]* [(]0x"
    ENVIRONMENT LD_TRACE_LOADED_OBJECTS=1
    COMMAND "${compiler}" --version
  )
  _cudaops_probe(
    about
    FILES "${compiler}"
    MATCHALL "Configuration file: [^\n]+"
    COMMAND "${compiler}" --version
  )
  foreach(line IN LISTS libraries_OUTPUT about_OUTPUT)
    string(REGEX REPLACE "^(=> |Configuration file: )| [(]0x$" "" file "${line}")
    list(APPEND files "${file}")
  endforeach()
  set(${out} "${files}" PARENT_SCOPE)
endfunction()

# _cudaops_cache_hip_parts(<out-files> <out-key> <out-rocm> <out-problem>)
#
# Clang, the programs it calls for a kernel, and the device libraries. <out-rocm> are the options that say where ROCm is,
# as the launcher will see them: another ROCm has other device libraries.
function(_cudaops_cache_hip_parts out_files out_key out_rocm out_problem)
  foreach(name IN ITEMS files key rocm problem)
    set(${out_${name}} "" PARENT_SCOPE)
  endforeach()
  if(NOT CMAKE_HIP_COMPILER_ID MATCHES "Clang")
    set(${out_problem} "${CMAKE_HIP_COMPILER_ID} is not a compiler that this was tested with" PARENT_SCOPE)
    return()
  endif()
  _cudaops_cache_hip_lists(lists)
  if(NOT lists)
    set(${out_problem} "${CMAKE_HIP_COMPILER} doesn't list the headers of device passes" PARENT_SCOPE)
    return()
  endif()
  separate_arguments(flags NATIVE_COMMAND "${CMAKE_HIP_FLAGS}")
  set(archs ${CMAKE_HIP_ARCHITECTURES} gfx900)
  list(GET archs 0 arch)
  cmake_path(SET source NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../tools/trial.hip")
  _cudaops_probe(
    plan
    FILES "${CMAKE_HIP_COMPILER}"
    MATCHALL "\n \"/[^\"]+\"|\"-mlink-builtin-bitcode\" \"[^\"]+\""
    STREAM ERROR
    ENVIRONMENT "ROCM_PATH=" "HIP_PATH=" "HIP_DEVICE_LIB_PATH="
    COMMAND "${CMAKE_HIP_COMPILER}" -x hip ${flags} --offload-arch=${arch} "-###" -c "${source}" -o /dev/null
  )
  _cudaops_cache_clang_parts("${CMAKE_HIP_COMPILER}" files)
  set(bitcode "")
  foreach(line IN LISTS plan_OUTPUT)
    string(REGEX REPLACE "^.*\"([^\"]+)\"$" "\\1" file "${line}")
    if(NOT line MATCHES "builtin-bitcode")
      list(APPEND files "${file}")
    elseif(bitcode STREQUAL "")
      cmake_path(GET file PARENT_PATH directory)
      # Others for other architectures.
      _cudaops_glob_in(in "${directory}")
      file(GLOB bitcode "${in}/*.bc")
    endif()
  endforeach()
  if(bitcode STREQUAL "")
    set(${out_problem} "${CMAKE_HIP_COMPILER} doesn't report its device libraries" PARENT_SCOPE)
    return()
  endif()
  list(APPEND files ${bitcode})
  list(REMOVE_DUPLICATES files)
  set(${out_files} "${files}" PARENT_SCOPE)
  # Dependency files name clang's own headers by its real path.
  file(REAL_PATH "${CMAKE_HIP_COMPILER}" real)
  set(${out_key} "${real}" PARENT_SCOPE)
  list(FILTER flags INCLUDE REGEX "^--(rocm-path|rocm-device-lib-path|hip-device-lib-path|hip-path)=")
  list(TRANSFORM flags PREPEND "|")
  list(JOIN flags "" rocm)
  set(${out_rocm} "${rocm}" PARENT_SCOPE)
endfunction()

# _cudaops_cache_hip_lists(<out>): whether clang, asked for it, lists the headers of each of its passes, so that
# launcher/hip.cpp can complete the dependency file. Tried, because no rule says it.
function(_cudaops_cache_hip_lists out)
  set(${out} FALSE PARENT_SCOPE)
  if(NOT CMAKE_HIP_COMPILER OR NOT CMAKE_HIP_COMPILER_ID MATCHES "Clang")
    return()
  endif()
  cmake_path(SET source NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../tools/trial_headers.hip")
  _cudaops_probe(
    trial
    FILES "${CMAKE_HIP_COMPILER}"
    MATCHALL "std(arg|bool)\\.h"
    STREAM ERROR
    MACHINE
    ENVIRONMENT CC_PRINT_HEADERS=1 "CC_PRINT_HEADERS_FILE="
    COMMAND "${CMAKE_HIP_COMPILER}" -x hip -nogpuinc -nogpulib --offload-arch=gfx900 -fsyntax-only "${source}"
  )
  list(LENGTH trial_OUTPUT count)
  if(trial_EXIT STREQUAL "0" AND count EQUAL 2)
    set(${out} TRUE PARENT_SCOPE)
  endif()
endfunction()
