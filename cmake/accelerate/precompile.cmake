# SPDX-License-Identifier: Apache-2.0
# Torch's stable headers, precompiled once on a machine: reading them is half of what a stable binding takes.

_cudaops_use(base/message base/options base/paths base/probe base/stamps base/state launch/launch launch/launcher)

# _cudaops_op_precompile(<target>)
#
# Compiles <target>'s C++ through launcher/precompiled.cpp. gcc refuses a precompiled header that was made with other options
# or macros and reads the header instead: what is guessed wrongly here costs time only.
function(_cudaops_op_precompile target)
  get_property(multi GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  _cudaops_launch_excluded(${target} CXX precompiled excluded)
  # ccache asks our step for what it hasn't. sccache's server runs the compiler itself, and what others get was made of
  # the headers alone.
  _cudaops_target_get(${target} LAUNCH_CXX steps)
  _cudaops_state_read(CACHE_ENGINE CACHE_REMOTE)
  if("cache" IN_LIST steps AND NOT "${CACHE_ENGINE}|${CACHE_REMOTE}" STREQUAL "ccache|")
    set(excluded cache)
  endif()
  get_target_property(own ${target} PRECOMPILE_HEADERS)
  get_target_property(disabled ${target} DISABLE_PRECOMPILE_HEADERS)
  _cudaops_state_get(BACKEND backend)
  _cudaops_state_get(TORCH_INCLUDE_DIR include)
  _cudaops_option(CUDAOPS_PRECOMPILE wanted)
  file(REAL_PATH "${CMAKE_CXX_COMPILER}" program)
  if(
    NOT wanted
    OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU"
    OR multi
    OR excluded
    OR program MATCHES "/(s?ccache|distcc|icecc)$"
    OR own
    OR disabled
    OR CMAKE_DISABLE_PRECOMPILE_HEADERS
    OR backend STREQUAL "HIP"
    OR NOT EXISTS "${include}/torch/csrc/stable/library.h"
  )
    return()
  endif()
  _cudaops_launcher(launcher ignored)
  if(launcher STREQUAL "")
    return()
  endif()
  _cudaops_precompile_python(${target} python_directories)
  _cudaops_precompile_sources(${target} "${python_directories}" python_first)
  _cudaops_precompile_options(${target} options)
  if("cache" IN_LIST steps)
    # As the cache has system headers named.
    list(APPEND options -fno-canonical-system-headers)
  endif()
  _cudaops_precompile_make(directory torch/csrc/stable/library.h ${options})
  if(directory STREQUAL "")
    return()
  endif()
  set(text "")
  _cudaops_launcher_line(text precompiled "${directory}")
  if(python_first)
    _cudaops_precompile_python_options(${target} "${python_directories}" more)
    _cudaops_precompile_make(python Python.h ${options} ${more})
    if(python)
      _cudaops_launcher_line(text precompiled_python "${python}")
    endif()
  endif()
  _cudaops_launcher_line(text precompiled_include "${include}")
  if(NOT "cache" IN_LIST steps)
    # What header_search.cpp takes for the project's, the compiler's and other people's; the cache says it for itself.
    _cudaops_launcher_line(text source "${PROJECT_SOURCE_DIR}")
    _cudaops_launcher_line(text standard ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
    _cudaops_launcher_line(text other "${include}" ${python_directories})
  endif()
  _cudaops_launch_add(${target} CXX precompiled "${text}")
endfunction()

# _cudaops_precompile_make(<out> <first> <option>...): the directory that holds <first> precompiled, or empty.
function(_cudaops_precompile_make out first)
  _cudaops_store(store)
  _cudaops_file_stamp("${CMAKE_CXX_COMPILER}" compiler)
  _cudaops_state_get(TORCH_VERSION torch)
  _cudaops_state_get(TORCH_INCLUDE_DIR include)
  string(SHA1 key "4|${first}|${compiler}|${CMAKE_CXX_COMPILER_VERSION}|${torch}|${include}|${ARGN}")
  set(directory "${store}/precompiled/${key}")
  # By the name that it has in all build trees, so that they share the answer.
  _cudaops_state_get(LAUNCHER_STORED tool)
  _cudaops_state_get(PRECOMPILED known)
  if(NOT directory IN_LIST known)
    _cudaops_state_append(PRECOMPILED "${directory}")
    # Asked once in a build tree: each compile asks for itself.
    _cudaops_probe(
      valid
      FILES "${directory}/stamp" "${include}/torch/csrc/stable/library.h"
      COMMAND "${tool}" --precompiled "${directory}"
    )
    if(NOT valid_EXIT STREQUAL "0")
      set(what "torch's stable headers are")
      if(first STREQUAL "Python.h")
        set(what "Python.h and torch's stable headers are")
      endif()
      _cudaops_status("CudaOps: ${what} precompiled for ${CMAKE_CXX_COMPILER}, once for these options")
      _cudaops_run(
        make
        COMMAND "${tool}" --precompile "${directory}" ${first} "${CMAKE_CXX_COMPILER}" "${include}" ${ARGN}
      )
      if(NOT make_EXIT STREQUAL "0")
        _cudaops_verbose("they are read each time, precompiling failed: ${make_ERROR}")
      endif()
    endif()
  endif()
  set(${out} "" PARENT_SCOPE)
  if(EXISTS "${directory}/stamp")
    set(${out} "${directory}" PARENT_SCOPE)
  endif()
endfunction()

# _cudaops_precompile_sources(<target> <python directories> <out>)
#
# <out>: whether a source begins with Python.h and, next, torch's header. Those that read torch's stable headers because
# others come before are said: nothing else would tell.
function(_cudaops_precompile_sources target python_directories out)
  set(header torch/csrc/stable/library.h)
  set(python_first FALSE)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE OUTPUT_VARIABLE path)
    if(NOT source MATCHES "\\.(cc|cpp|cxx)$" OR NOT EXISTS "${path}")
      continue()
    endif()
    file(STRINGS "${path}" lines REGEX "^[ \t]*#[ \t]*(if|include[ \t]*[<\"][^>\"]+[>\"])")
    list(TRANSFORM lines REPLACE "^[ \t]*#[ \t]*if.*$" "#if")
    list(TRANSFORM lines REPLACE "^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"]+)[>\"].*$" "\\1")
    # Under an #if, the first include may be another build's.
    if("${lines}" MATCHES "^(#if|${header})(;|$)" OR NOT "${lines}" MATCHES "(^|;)torch/csrc/stable/")
      continue()
    endif()
    list(GET lines 0 first)
    if(first STREQUAL "Python.h" AND NOT python_directories STREQUAL "")
      _cudaops_launcher(launcher ignored)
      _cudaops_run(begins COMMAND "${launcher}" --python-first "${path}")
      if(begins_EXIT STREQUAL "0")
        set(python_first TRUE)
        continue()
      endif()
    endif()
    set(place "${first} stands before ${header}")
    if(NOT header IN_LIST lines)
      set(place "it begins with ${first}, not with ${header}")
    elseif(first STREQUAL "Python.h" AND NOT python_directories STREQUAL "")
      set(place "${header} doesn't follow Python.h at once")
    endif()
    _cudaops_status("add_torch_op(${target}): ${source} is compiled without precompiled headers: ${place}")
  endforeach()
  set(${out} ${python_first} PARENT_SCOPE)
endfunction()

# _cudaops_precompile_python(<target> <out>)
#
# The include directories with the Python.h of the match, and ours before it; empty where the target may have another.
function(_cudaops_precompile_python target out)
  set(${out} "" PARENT_SCOPE)
  _cudaops_target_get(${target} PYTHON_MODULE module)
  _cudaops_state_get(PYTHON_INCLUDE_DIR python)
  get_target_property(directories ${target} INCLUDE_DIRECTORIES)
  set(found "")
  if(module)
    foreach(directory IN LISTS directories)
      if(directory MATCHES "\\$<")
        return()
      elseif(EXISTS "${directory}/Python.h")
        list(APPEND found "${directory}")
        if(directory STREQUAL python)
          set(${out} "${found}" PARENT_SCOPE)
          return()
        elseif(NOT directory MATCHES "/cudaops/detail/limited_api$")
          return()
        endif()
      endif()
    endforeach()
  endif()
endfunction()

# What Python.h is read with besides.
function(_cudaops_precompile_python_options target directories out)
  list(TRANSFORM directories PREPEND "-I" OUTPUT_VARIABLE options)
  get_target_property(definitions ${target} COMPILE_DEFINITIONS)
  list(FILTER definitions INCLUDE REGEX "^(CUDAOPS_PY_LIMITED_API|P[Yy]_[A-Za-z_]+)(=|$)")
  list(TRANSFORM definitions PREPEND "-D")
  set(${out} ${options} ${definitions} PARENT_SCOPE)
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
  # Other macros are left out: gcc does not use a precompiled header where its text mentions one of them.
  set(macros "(TORCH_TARGET_VERSION|USE_CUDA|NDEBUG|_G[A-Z_]+)(=|$)")
  get_target_property(values ${target} COMPILE_OPTIONS)
  list(FILTER values INCLUDE REGEX "^-([fmgO][^ $]*$|D${macros})")
  list(APPEND options ${values})
  get_target_property(values ${target} COMPILE_DEFINITIONS)
  list(FILTER values INCLUDE REGEX "^${macros}")
  list(TRANSFORM values PREPEND "-D")
  list(APPEND options ${values})
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
