# SPDX-License-Identifier: Apache-2.0
# What stored answers depend on: stamps of files and programs, and the environment.

_cudaops_use(base/paths base/replay base/state)

# _cudaops_file_stamp(<path> <out>): path, size and time of what is there, or that nothing is.
function(_cudaops_file_stamp path out)
  # %s would read the zone files each time.
  file(TIMESTAMP "${path}" time "%Y%m%d%H%M%S.%f" UTC)
  set(kind directories)
  if(time STREQUAL "")
    set(time absent)
    set(kind absent)
  elseif(NOT IS_DIRECTORY "${path}" AND EXISTS "${path}")
    set(kind files)
    file(SIZE "${path}" size)
    string(APPEND time ":${size}")
  endif()
  get_property(recording GLOBAL PROPERTY _CUDAOPS_REPLAY_RECORDING)
  if(recording)
    _cudaops_replay_note(${kind} "${path}" "${time}")
  endif()
  set(${out} "${path}:${time}" PARENT_SCOPE)
endfunction()

# _cudaops_listing_stamp(<path> <out>)
#
# The same, and of a directory the names in it: images and packages set all times to one.
function(_cudaops_listing_stamp path out)
  _cudaops_file_stamp("${path}" stamp)
  if(IS_DIRECTORY "${path}")
    _cudaops_glob_in(in "${path}")
    # RELATIVE would cost five times as much.
    file(GLOB names LIST_DIRECTORIES TRUE "${in}/*")
    string(SHA1 names "${names}")
    string(APPEND stamp ":${names}")
    get_property(recording GLOBAL PROPERTY _CUDAOPS_REPLAY_RECORDING)
    if(recording)
      _cudaops_replay_note(listed "${path}" "${names}")
    endif()
  endif()
  set(${out} "${stamp}" PARENT_SCOPE)
endfunction()

# _cudaops_follows(<path>...): what is found now follows from what is or isn't at these paths.
# _cudaops_follows_names(<directory>...): and from the names in these directories.
function(_cudaops_follows)
  get_property(recording GLOBAL PROPERTY _CUDAOPS_REPLAY_RECORDING)
  if(recording)
    foreach(path IN LISTS ARGN)
      if(NOT path STREQUAL "")
        get_property(seen GLOBAL PROPERTY "_CUDAOPS_REPLAY_SEEN ${path}")
        if(NOT seen MATCHES "files|directories|absent")
          _cudaops_file_stamp("${path}" stamp)
        endif()
      endif()
    endforeach()
  endif()
endfunction()

function(_cudaops_follows_names)
  get_property(recording GLOBAL PROPERTY _CUDAOPS_REPLAY_RECORDING)
  if(recording)
    foreach(path IN LISTS ARGN)
      _cudaops_listing_stamp("${path}" stamp)
    endforeach()
  endif()
endfunction()

# _cudaops_follows_content(<program>): the same of its build id, or of a script's text: times can be set back.
function(_cudaops_follows_content path)
  get_property(recording GLOBAL PROPERTY _CUDAOPS_REPLAY_RECORDING)
  if(recording AND EXISTS "${path}")
    file(SIZE "${path}" size)
    if(size LESS 65536)
      file(SHA1 "${path}" content)
      _cudaops_replay_note(scripts "${path}" "${content}")
    else()
      # Where linkers put it.
      file(READ "${path}" content OFFSET 768 LIMIT 256 HEX)
      _cudaops_replay_note(programs "${path}" "${content}")
    endif()
  endif()
endfunction()

# _cudaops_answers_stamp(<path> <out>)
#
# Stamp of a program whose answers follow from it, its options and _cudaops_program_environment() alone: a compiler (not
# one that another program calls by its name), a cache, a Python, or a script that does nothing but call such a one.
# Empty for all else.
function(_cudaops_answers_stamp path out)
  set(${out} "" PARENT_SCOPE)
  _cudaops_state_get_of(ANSWERS_STAMP "${path}" stamp)
  get_property(recording GLOBAL PROPERTY _CUDAOPS_REPLAY_RECORDING)
  if(stamp AND NOT recording)
    set(${out} "${stamp}" PARENT_SCOPE)
    return()
  endif()
  if(NOT IS_ABSOLUTE "${path}" OR NOT EXISTS "${path}" OR IS_DIRECTORY "${path}")
    return()
  endif()
  file(REAL_PATH "${path}" real)
  file(READ "${real}" magic LIMIT 4 HEX)
  set(script "")
  if(magic MATCHES "^2321")
    file(SIZE "${real}" size)
    if(size GREATER 4096)
      return()
    endif()
    file(READ "${real}" text)
    if(NOT text MATCHES "^#![^\n]*sh\n((#[^\n]*)?\n)*exec (/[^][;'\"$`\\ \t\n]+)( -[-A-Za-z0-9_=+.,/]+)* \"[$]@\"\n*$")
      return()
    endif()
    set(path "${CMAKE_MATCH_3}")
    if(NOT EXISTS "${path}" OR IS_DIRECTORY "${path}")
      return()
    endif()
    string(SHA1 digest "${text}")
    _cudaops_file_stamp("${real}" script)
    _cudaops_follows_content("${real}")
    string(APPEND script " ${digest} ")
    file(REAL_PATH "${path}" real)
    file(READ "${real}" magic LIMIT 4 HEX)
  endif()
  cmake_path(GET path FILENAME called)
  cmake_path(GET real FILENAME name)
  cmake_path(GET real PARENT_PATH directory)
  set(kinds "(g[+][+]|gcc|c[+][+]|cc|clang|clang[+][+]|nvcc|ptxas|s?ccache|python|pypy)")
  if(
    NOT magic STREQUAL "7f454c46"
    OR NOT name MATCHES "^([a-z0-9_]+-)*${kinds}[-0-9.a-z]*$"
    OR (name MATCHES "ccache" AND NOT called STREQUAL name)
  )
    return()
  endif()
  _cudaops_file_stamp("${real}" stamp)
  _cudaops_follows_content("${real}")
  # Where linkers put the build id.
  file(READ "${real}" build_id OFFSET 768 LIMIT 256 HEX)
  string(APPEND stamp " ${build_id}")
  if(name MATCHES "nvcc")
    # It reads it beside itself. One without is not the nvcc of a toolkit, and may look for it elsewhere.
    if(NOT EXISTS "${directory}/nvcc.profile")
      return()
    endif()
    _cudaops_file_stamp("${directory}/nvcc.profile" profile)
    string(APPEND stamp " ${profile}")
  endif()
  set(stamp "${script}${stamp}")
  _cudaops_state_set("ANSWERS_STAMP ${ARGV0}" "${stamp}")
  set(${out} "${stamp}" PARENT_SCOPE)
endfunction()

# _cudaops_program_stamp(<path> <out> <out-doubt>)
#
# Stamp of a compiler that is about to be detected. What a script does follows from its text, from the variables it reads
# and from the programs it names; where that can't be seen from the text it is in doubt.
function(_cudaops_program_stamp path out out_doubt)
  set(${out_doubt} "" PARENT_SCOPE)
  file(REAL_PATH "${path}" real)
  cmake_path(GET real FILENAME name)
  if(NOT EXISTS "${real}")
    set(${out_doubt} "${path} can't be read" PARENT_SCOPE)
    return()
  endif()
  if(name MATCHES "ccache|distcc|icecc|buildcache|colorgcc")
    set(${out_doubt} "${path} is ${name}, which looks for the compiler itself" PARENT_SCOPE)
    return()
  endif()
  _cudaops_file_stamp("${real}" stamp)
  # Where linkers put the build id.
  file(READ "${real}" build_id OFFSET 768 LIMIT 256 HEX)
  file(READ "${real}" magic LIMIT 2 HEX)
  string(APPEND stamp " ${build_id}")
  if(magic STREQUAL "2321")
    file(SIZE "${real}" size)
    if(size GREATER 65536)
      set(${out_doubt} "${path} is a long script" PARENT_SCOPE)
      return()
    endif()
    file(READ "${real}" text)
    if(
      NOT text MATCHES "^#! *(/usr)?/bin/(env )?(ba|da)?sh[ \n]"
      OR text MATCHES "(^|[\n;&|(` \t])(eval|source|[.])[ \t]|[$]{!|printenv|[$]{?[A-Za-z_0-9]*\\["
    )
      set(${out_doubt} "${path} is a script that doesn't show what it depends on" PARENT_SCOPE)
      return()
    endif()
    string(SHA1 digest "${text}")
    string(APPEND stamp " ${digest}")
    string(REGEX MATCHALL "[$]{?[A-Za-z_][A-Za-z_0-9]*" names "${text}")
    list(TRANSFORM names REPLACE "[$]{?" "")
    list(REMOVE_DUPLICATES names)
    foreach(name IN LISTS names)
      if(DEFINED ENV{${name}})
        string(APPEND stamp " ${name}=$ENV{${name}}")
      endif()
    endforeach()
    # Bare, and quoted with blanks in them.
    string(FIND "${text}\n" "\n" line_end)
    string(SUBSTRING "${text}" ${line_end} -1 text)
    string(REGEX MATCHALL "/[^] \t\n\"'$|&<>();[]+|'/[^'\n;]+|\"/[^\"\n;]+" paths "${text}")
    list(TRANSFORM paths REPLACE "^['\"]" "")
    set(programs 0)
    foreach(other IN LISTS paths)
      if(EXISTS "${other}" AND NOT IS_DIRECTORY "${other}")
        file(READ "${other}" other_magic LIMIT 4 HEX)
        if(other_magic MATCHES "^2321")
          set(${out_doubt} "${path} calls the script ${other}" PARENT_SCOPE)
          return()
        elseif(other_magic STREQUAL "7f454c46")
          math(EXPR programs "${programs} + 1")
        endif()
        _cudaops_file_stamp("${other}" other)
        string(APPEND stamp " ${other}")
      endif()
    endforeach()
    if(programs EQUAL 0)
      set(${out_doubt} "${path} is a script that looks for the compiler on PATH" PARENT_SCOPE)
      return()
    endif()
    string(APPEND stamp " $ENV{PATH}")
  endif()
  set(${out} "${stamp}" PARENT_SCOPE)
endfunction()

# _cudaops_program_environment(<out>): the variables that compilers and the programs round them read, with their values.
function(_cudaops_program_environment out)
  string(
    CONCAT text
    "CFLAGS=$ENV{CFLAGS}\n"
    "CXXFLAGS=$ENV{CXXFLAGS}\n"
    "CUDAFLAGS=$ENV{CUDAFLAGS}\n"
    "CPPFLAGS=$ENV{CPPFLAGS}\n"
    "LDFLAGS=$ENV{LDFLAGS}\n"
    "CC=$ENV{CC}\n"
    "CXX=$ENV{CXX}\n"
    "CUDACXX=$ENV{CUDACXX}\n"
    "CUDAHOSTCXX=$ENV{CUDAHOSTCXX}\n"
    "CUDAARCHS=$ENV{CUDAARCHS}\n"
    "CUDA_PATH=$ENV{CUDA_PATH}\n"
    "CONDA_PREFIX=$ENV{CONDA_PREFIX}\n"
    "CUDAToolkit_ROOT=$ENV{CUDAToolkit_ROOT}\n"
    "CUDA_VISIBLE_DEVICES=$ENV{CUDA_VISIBLE_DEVICES}\n"
    "CUDA_DEVICE_ORDER=$ENV{CUDA_DEVICE_ORDER}\n"
    "NVCC_PREPEND_FLAGS=$ENV{NVCC_PREPEND_FLAGS}\n"
    "NVCC_APPEND_FLAGS=$ENV{NVCC_APPEND_FLAGS}\n"
    "NVCC_CCBIN=$ENV{NVCC_CCBIN}\n"
    "CPATH=$ENV{CPATH}\n"
    "C_INCLUDE_PATH=$ENV{C_INCLUDE_PATH}\n"
    "CPLUS_INCLUDE_PATH=$ENV{CPLUS_INCLUDE_PATH}\n"
    "OBJC_INCLUDE_PATH=$ENV{OBJC_INCLUDE_PATH}\n"
    "LIBRARY_PATH=$ENV{LIBRARY_PATH}\n"
    "COMPILER_PATH=$ENV{COMPILER_PATH}\n"
    "GCC_EXEC_PREFIX=$ENV{GCC_EXEC_PREFIX}\n"
    "GCC_COMPARE_DEBUG=$ENV{GCC_COMPARE_DEBUG}\n"
    "COLLECT_NO_DEMANGLE=$ENV{COLLECT_NO_DEMANGLE}\n"
    "DEPENDENCIES_OUTPUT=$ENV{DEPENDENCIES_OUTPUT}\n"
    "SUNPRO_DEPENDENCIES=$ENV{SUNPRO_DEPENDENCIES}\n"
    "CCC_OVERRIDE_OPTIONS=$ENV{CCC_OVERRIDE_OPTIONS}\n"
    "CLANG_CONFIG_FILE_SYSTEM_DIR=$ENV{CLANG_CONFIG_FILE_SYSTEM_DIR}\n"
    "CLANG_CONFIG_FILE_USER_DIR=$ENV{CLANG_CONFIG_FILE_USER_DIR}\n"
    "CLANG_NO_DEFAULT_CONFIG=$ENV{CLANG_NO_DEFAULT_CONFIG}\n"
    "SDKROOT=$ENV{SDKROOT}\n"
    "LDEMULATION=$ENV{LDEMULATION}\n"
    "LD_RUN_PATH=$ENV{LD_RUN_PATH}\n"
    "LD_LIBRARY_PATH=$ENV{LD_LIBRARY_PATH}\n"
    "LD_PRELOAD=$ENV{LD_PRELOAD}\n"
    "GNUTARGET=$ENV{GNUTARGET}\n"
    "LANG=$ENV{LANG}\n"
    "LC_ALL=$ENV{LC_ALL}\n"
    "LC_MESSAGES=$ENV{LC_MESSAGES}\n"
    "SOURCE_DATE_EPOCH=$ENV{SOURCE_DATE_EPOCH}\n"
    "CMAKE_CUDA_ARCHITECTURES_NATIVE_CLAMP=$ENV{CMAKE_CUDA_ARCHITECTURES_NATIVE_CLAMP}\n"
    "CMAKE_NO_VERBOSE=$ENV{CMAKE_NO_VERBOSE}\n"
  )
  set(${out} "${text}" PARENT_SCOPE)
endfunction()
