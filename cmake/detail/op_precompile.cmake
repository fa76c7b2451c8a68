# SPDX-License-Identifier: Apache-2.0
# Torch's stable headers, precompiled once on a machine: reading them is half of what a stable binding takes.

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

if(NOT COMMAND _cudaops_use)
  include("${CMAKE_CURRENT_LIST_DIR}/use.cmake")
endif()
_cudaops_use(message options probe state)

# _cudaops_op_precompile(<target>)
#
# Compiles <target>'s C++ through tools/precompile.sh. gcc refuses a precompiled header that was made with other options
# or macros and reads the header instead: what is guessed wrongly here costs time only. A compiler cache answers sooner,
# and its entries must not depend on files of this machine: one excludes the other.
function(_cudaops_op_precompile target)
  get_property(multi GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  get_target_property(launcher ${target} CXX_COMPILER_LAUNCHER)
  get_target_property(own ${target} PRECOMPILE_HEADERS)
  get_target_property(disabled ${target} DISABLE_PRECOMPILE_HEADERS)
  _cudaops_state_get(BACKEND backend)
  _cudaops_state_get(TORCH_INCLUDE_DIR include)
  _cudaops_store(store)
  _cudaops_option(CUDAOPS_PRECOMPILE wanted)
  file(REAL_PATH "${CMAKE_CXX_COMPILER}" program)
  if(
    NOT wanted
    OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU"
    OR multi
    OR launcher
    OR program MATCHES "/(s?ccache|distcc|icecc)$"
    OR own
    OR disabled
    OR CMAKE_DISABLE_PRECOMPILE_HEADERS
    OR backend STREQUAL "HIP"
    OR NOT EXISTS "${include}/torch/csrc/stable/library.h"
  )
    return()
  endif()
  _cudaops_precompile_options(${target} options)
  _cudaops_file_stamp("${CMAKE_CXX_COMPILER}" compiler)
  _cudaops_state_get(TORCH_VERSION torch)
  string(SHA1 key "3|${compiler}|${CMAKE_CXX_COMPILER_VERSION}|${torch}|${include}|${options}")
  set(directory "${store}/precompiled/${key}")
  cmake_path(SET tool NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../tools/precompile.sh")
  _cudaops_state_get(PRECOMPILED known)
  if(NOT directory IN_LIST known)
    _cudaops_state_append(PRECOMPILED "${directory}")
    # Asked once in a build tree: each compile asks for itself.
    _cudaops_probe(
      valid
      FILES "${directory}/stamp" "${include}/torch/csrc/stable/library.h"
      COMMAND /bin/sh "${tool}" valid "${directory}"
    )
    if(NOT valid_EXIT STREQUAL "0")
      _cudaops_status("CudaOps: torch's stable headers are precompiled for ${CMAKE_CXX_COMPILER}, once for these options")
      _cudaops_run(
        make
        COMMAND /bin/sh "${tool}" make "${directory}" "${CMAKE_CXX_COMPILER}" "${include}" ${options}
      )
      if(NOT make_EXIT STREQUAL "0")
        _cudaops_verbose("they are read each time, precompiling failed: ${make_ERROR}")
      endif()
    endif()
  endif()
  if(EXISTS "${directory}/stamp")
    set_property(
      TARGET ${target}
      PROPERTY CXX_COMPILER_LAUNCHER /bin/sh "${tool}" run "${directory}"
    )
  endif()
endfunction()

# The options that CMake will give <target>'s C++, as far as gcc minds them.
function(_cudaops_precompile_options target out)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" config)
  separate_arguments(options NATIVE_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${config}}")
  if(CMAKE_BUILD_TYPE STREQUAL "" AND NOT " ${CMAKE_CXX_FLAGS}" MATCHES " -O")
    list(APPEND options -O3 -DNDEBUG)
  endif()
  get_target_property(standard ${target} CXX_STANDARD)
  get_target_property(extensions ${target} CXX_EXTENSIONS)
  # The stable headers ask for 17.
  if(NOT standard OR standard STREQUAL "98" OR standard LESS 17)
    set(standard 17)
  endif()
  set(kind EXTENSION)
  if(extensions STREQUAL "FALSE" OR extensions STREQUAL "OFF")
    set(kind STANDARD)
  endif()
  list(APPEND options ${CMAKE_CXX${standard}_${kind}_COMPILE_OPTION} -fPIC)
  foreach(property IN ITEMS COMPILE_OPTIONS COMPILE_DEFINITIONS)
    get_target_property(values ${target} ${property})
    foreach(value IN LISTS values)
      if(property STREQUAL "COMPILE_OPTIONS" AND value MATCHES "^-[fmgOD][^ $]*$")
        list(APPEND options "${value}")
      elseif(
        property STREQUAL "COMPILE_DEFINITIONS"
        AND value MATCHES "^(TORCH_TARGET_VERSION|USE_CUDA|NDEBUG|_G[A-Z_]+)(=|$)"
      )
        list(APPEND options "-D${value}")
      endif()
    endforeach()
  endforeach()
  _cudaops_target_get(${target} GPU gpu)
  if(gpu)
    list(APPEND options -DUSE_CUDA)
  endif()
  _cudaops_state_get(TORCH_INCLUDE_DIR include)
  # As in _cudaops_hide_paths(): __FILE__ in functions of the header is in the precompiled one already.
  list(APPEND options "-fmacro-prefix-map=${include}/=")
  list(REMOVE_DUPLICATES options)
  set(${out} "${options}" PARENT_SCOPE)
endfunction()
