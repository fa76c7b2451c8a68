# SPDX-License-Identifier: Apache-2.0
# What the user may set: CUDAOPS_* options with their values and defaults, and the environment as it was at the
# first configure.

_cudaops_use(base/message base/state)

# _cudaops_option(<name> <out>)
#
# Variable, else environment, else default. A value that isn't among the valid ones ends the configure.
function(_cudaops_option name out)
  set(default "")
  set(valid "")
  set(list FALSE)
  if(name STREQUAL "CUDAOPS_VERSION_POLICY")
    set(default "COMPATIBLE")
    set(valid STRICT COMPATIBLE WARN)
  elseif(name STREQUAL "CUDAOPS_BACKEND")
    set(default "AUTO")
    set(valid AUTO CUDA HIP CPU)
  elseif(name STREQUAL "CUDAOPS_CACHE")
    set(default "AUTO")
    set(valid AUTO OFF ccache sccache)
  elseif(name STREQUAL "CUDAOPS_CACHE_READONLY")
    set(default "OFF")
    set(valid OFF ON)
  elseif(name STREQUAL "CUDAOPS_BUILD_TRACE")
    set(default "OFF")
    set(valid OFF ON PHASES)
  elseif(name STREQUAL "CUDAOPS_PROVIDE")
    set(valid TOOLKIT TORCH GTEST BENCHMARK)
    set(list TRUE)
  elseif(name MATCHES "^CUDAOPS_(SEED_COMPILERS|PRECOMPILE)$")
    set(default "ON")
    set(valid ON OFF)
  elseif(name MATCHES "^CUDAOPS_(DEBUG|PROFILE|FAST_MATH|NVTX)$")
    set(default "OFF")
    set(valid OFF ON)
  elseif(name STREQUAL "CUDAOPS_SANITIZER")
    set(valid memcheck racecheck initcheck synccheck)
    set(list TRUE)
  elseif(name STREQUAL "CUDAOPS_TORCH_VERSION")
    set(default "2.15.0")
  elseif(NOT name MATCHES "^CUDAOPS_(CUDA_JOBS|CUDA_JOB_MEMORY|COMPATIBLE_VERSIONS|HIPIFY|STORE)$")
    message(FATAL_ERROR "CudaOps: internal error: unknown option '${name}' (detail/base/options.cmake lists them).")
  endif()

  set(value "")
  set(source "")
  if(DEFINED ${name} AND NOT "${${name}}" STREQUAL "")
    set(value "${${name}}")
    set(source "variable")
  else()
    _cudaops_env(${name} value)
    set(source "environment")
  endif()
  if(value STREQUAL "")
    set(${out} "${default}" PARENT_SCOPE)
    return()
  endif()

  if(valid)
    if(list)
      string(REGEX REPLACE "[, ]+" ";" items "${value}")
      list(REMOVE_ITEM items "")
      set(value "${items}")
    else()
      # One value: two of them, each right, are none.
      string(REPLACE ";" "\\;" items "${value}")
    endif()
    foreach(item IN LISTS items)
      if(NOT item IN_LIST valid)
        list(JOIN valid " " values)
        list(GET valid 0 first)
        if(NOT default STREQUAL "")
          set(first "${default}")
        endif()
        _cudaops_use(base/closest)
        _cudaops_closest("${item}" "${valid}" closest)
        string(TOUPPER "${item}" upper)
        string(TOUPPER "${closest}" upper_closest)
        if(NOT item MATCHES "....." AND NOT upper STREQUAL upper_closest)
          # One letter of three is no slip: GPU isn't CPU.
          set(closest "")
        endif()
        if(closest STREQUAL "" AND "ON" IN_LIST valid AND "OFF" IN_LIST valid)
          if(item MATCHES "^([Yy]([Ee][Ss])?|[Tt][Rr][Uu][Ee]|1)$")
            set(closest ON)
          elseif(item MATCHES "^([Nn]([Oo])?|[Ff][Aa][Ll][Ss][Ee]|0)$")
            set(closest OFF)
          endif()
        endif()
        set(suggestion ".")
        if(closest)
          set(first "${closest}")
          set(suggestion ", did you mean ${closest}?")
        endif()
        _cudaops_stop(
          "${name}: unknown value '${item}'${suggestion}"
          FACTS "found   ${value} (${source} ${name})" "wanted  ${values}"
          FIX "-D${name}=${first}"
        )
      endif()
    endforeach()
  elseif(name STREQUAL "CUDAOPS_TORCH_VERSION" AND NOT value MATCHES "^[0-9]+\\.[0-9]+(\\.[0-9]+)?([+a-z0-9.]*)$")
    _cudaops_stop(
      "CUDAOPS_TORCH_VERSION: not a version of torch."
      FACTS "found   ${value} (${source} CUDAOPS_TORCH_VERSION)" "wanted  a release, such as 2.15.0"
      FIX "-DCUDAOPS_TORCH_VERSION=2.15.0"
    )
  elseif(name STREQUAL "CUDAOPS_CUDA_JOBS" AND NOT value MATCHES "^[1-9][0-9]?[0-9]?[0-9]?$")
    _cudaops_stop(
      "CUDAOPS_CUDA_JOBS: not a number of jobs."
      FACTS "found   ${value} (${source} CUDAOPS_CUDA_JOBS)" "wanted  how many CUDA sources may compile at once, from 1 to 9999"
      FIX "-DCUDAOPS_CUDA_JOBS=2" "or leave it out: the number follows memory and cores"
    )
  elseif(
    name STREQUAL "CUDAOPS_CUDA_JOB_MEMORY"
    AND NOT value MATCHES "^([1-9][0-9]?[0-9]?([.][0-9]+)?|0[.]0*[1-9][0-9]*)$"
  )
    _cudaops_stop(
      "CUDAOPS_CUDA_JOB_MEMORY: not a number of GiB."
      FACTS "found   ${value} (${source} CUDAOPS_CUDA_JOB_MEMORY)" "wanted  GiB that nvcc takes for one source and architecture, such as 2.5"
      FIX "-DCUDAOPS_CUDA_JOB_MEMORY=3" "or leave it out: builds measure it"
    )
  endif()
  set(${out} "${value}" PARENT_SCOPE)
endfunction()

# _cudaops_check_options()
#
# -DCUDAOPS_PROVDE=TORCH would do nothing and say nothing; CMake's own hint names no cure. A value that is none is an error
# also where nothing asks for it: -DCUDAOPS_SANITIZER=memchek in a project whose tests come later.
function(_cudaops_check_options)
  set(known "CUDAOPS_CACHE;CUDAOPS_CACHE_REMOTE;CUDAOPS_CACHE_READONLY;CUDAOPS_CUDA_JOBS")
  list(APPEND known "CUDAOPS_CUDA_JOB_MEMORY;CUDAOPS_VERSION_POLICY;CUDAOPS_COMPATIBLE_VERSIONS;CUDAOPS_BACKEND")
  list(APPEND known "CUDAOPS_BUILD_TRACE;CUDAOPS_HIPIFY;CUDAOPS_PRECOMPILE;CUDAOPS_PROVIDE;CUDAOPS_TORCH_VERSION")
  list(APPEND known "CUDAOPS_STORE;CUDAOPS_SEED_COMPILERS;CUDAOPS_DEBUG;CUDAOPS_PROFILE;CUDAOPS_SANITIZER")
  list(APPEND known "CUDAOPS_FAST_MATH;CUDAOPS_NVTX")
  # CMake is not to say "not used by the project" of an option that has nothing to do here, such as a cache where nothing
  # is compiled.
  foreach(entry IN LISTS known)
    set(read "${${entry}}")
    if(DEFINED ${entry} AND NOT entry STREQUAL "CUDAOPS_CACHE_REMOTE")
      _cudaops_option(${entry} read)
    endif()
  endforeach()
  get_cmake_property(entries CACHE_VARIABLES)
  list(FILTER entries INCLUDE REGEX "^CUDAOPS_")
  foreach(entry IN LISTS entries)
    if(NOT entry IN_LIST known)
      get_property(type CACHE ${entry} PROPERTY TYPE)
      get_property(help CACHE ${entry} PROPERTY HELPSTRING)
      if(type STREQUAL "UNINITIALIZED" OR help MATCHES "No help, variable specified on the command line")
        _cudaops_use(base/closest base/secrets)
        _cudaops_closest("${entry}" "${known}" suggestion)
        if(suggestion)
          _cudaops_mask("$CACHE{${entry}}" shown)
          _cudaops_warn(
            "CudaOps: there is no option ${entry}, did you mean ${suggestion}?"
            FACTS "found   -D${entry}=${shown}"
            FIX "-U${entry} -D${suggestion}=${shown}"
          )
        endif()
      endif()
    endif()
  endforeach()
endfunction()

# _cudaops_check_build_type(): CMake takes every name, and compiles without -O for one that it has no flags of.
function(_cudaops_check_build_type)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  if(type STREQUAL "" OR CMAKE_CONFIGURATION_TYPES OR NOT "${CMAKE_CXX_FLAGS_${type}}" STREQUAL "")
    return()
  endif()
  _cudaops_use(base/closest)
  _cudaops_closest("${CMAKE_BUILD_TYPE}" "Release;Debug;RelWithDebInfo;MinSizeRel" suggestion)
  string(TOUPPER "${suggestion}" meant)
  # None, names of a project's own, and a Release whose flags were taken away are meant.
  if(suggestion AND NOT meant STREQUAL type)
    _cudaops_warn(
      "CMAKE_BUILD_TYPE: there are no flags for ${CMAKE_BUILD_TYPE}, did you mean ${suggestion}?"
      FACTS "found   CMAKE_CXX_FLAGS_${type} is empty, so C++ is compiled without -O"
      FIX "-DCMAKE_BUILD_TYPE=${suggestion}"
    )
  endif()
endfunction()

# _cudaops_check_cxx(): gcc and clang compile C++ as well, but link it without its library.
function(_cudaops_check_cxx)
  set(linked "${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES}")
  # With -static-libstdc++ CMake has the path of libstdc++.a.
  if(linked STREQUAL "" OR linked MATCHES "(^|;|/lib)(stdc\\+\\+|c\\+\\+)(;|[.]|$)")
    return()
  endif()
  list(REMOVE_DUPLICATES linked)
  list(JOIN linked " " linked)
  set(meant "<a C++ compiler>")
  if(CMAKE_CXX_COMPILER MATCHES "^(.*[/-])(gcc|clang|cc)([-0-9.]*)$")
    set(meant "${CMAKE_MATCH_2}++")
    string(REPLACE "cc++" "++" meant "${meant}")
    if(meant STREQUAL "++")
      set(meant "c++")
    endif()
    set(meant "${CMAKE_MATCH_1}${meant}${CMAKE_MATCH_3}")
  endif()
  _cudaops_warn(
    "CXX: this compiler links no C++ library, it is the one for C."
    FACTS "found   ${CMAKE_CXX_COMPILER}, which links ${linked}" "wanted  stdc++ or c++ among them"
    FIX "cmake --fresh with -DCMAKE_CXX_COMPILER=${meant}, or CXX=${meant} in the environment"
  )
endfunction()

# _cudaops_env(<name> <out>)
#
# The environment variable as it was at the first configure: Ninja configures again in whatever shell it runs. A later
# difference is said once; -D of the matching variable or --fresh changes it.
function(_cudaops_env name out)
  set(entry "_CUDAOPS_ENV_${name}")
  if(CMAKE_SCRIPT_MODE_FILE)
    set(${out} "$ENV{${name}}" PARENT_SCOPE)
    return()
  endif()
  if(NOT DEFINED CACHE{${entry}})
    set(${entry} "$ENV{${name}}" CACHE INTERNAL "environment ${name} at the first configure")
  elseif(NOT "$ENV{${name}}" STREQUAL "$CACHE{${entry}}" AND NOT name STREQUAL "PATH")
    _cudaops_env_changed(${name} "$CACHE{${entry}}" "$ENV{${name}}")
  endif()
  set(${out} "$CACHE{${entry}}" PARENT_SCOPE)
endfunction()

# _cudaops_env_asked(<out> <name>...): the values of all of these in one text, as _cudaops_env() has them.
function(_cudaops_env_asked out)
  set(text "")
  foreach(name IN LISTS ARGN)
    if(NOT DEFINED CACHE{_CUDAOPS_ENV_${name}})
      set(_CUDAOPS_ENV_${name} "$ENV{${name}}" CACHE INTERNAL "environment ${name} at the first configure")
    elseif(NOT "$ENV{${name}}" STREQUAL "$CACHE{_CUDAOPS_ENV_${name}}" AND NOT name STREQUAL "PATH")
      _cudaops_env_changed(${name} "$CACHE{_CUDAOPS_ENV_${name}}" "$ENV{${name}}")
    endif()
    string(APPEND text "${name}=$CACHE{_CUDAOPS_ENV_${name}}\n")
  endforeach()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# _cudaops_env_changed(<name> <first> <now>): said once.
function(_cudaops_env_changed name first now)
  _cudaops_state_get(ENV_NOTED noted)
  if(NOT name IN_LIST noted)
    _cudaops_state_append(ENV_NOTED ${name})
    _cudaops_status(
      "CudaOps: environment ${name} was '${first}' at the first configure and is kept; it is '${now}' now (cmake --fresh takes the new one)"
    )
  endif()
endfunction()

# _cudaops_cuda_flags(<out>): CMAKE_CUDA_FLAGS, or what CMake makes of the environment and of the toolchain file where it
# enables the language.
function(_cudaops_cuda_flags out)
  set(flags "${CMAKE_CUDA_FLAGS}")
  if(NOT DEFINED CMAKE_CUDA_FLAGS)
    string(STRIP "$ENV{CUDAFLAGS} ${CMAKE_CUDA_FLAGS_INIT}" flags)
  endif()
  set(${out} "${flags}" PARENT_SCOPE)
endfunction()

# _cudaops_wheel_build(<out>): whether scikit-build-core runs this configure step.
function(_cudaops_wheel_build out)
  set(${out} FALSE PARENT_SCOPE)
  if(NOT "${SKBUILD}" STREQUAL "" OR NOT "$ENV{SKBUILD}" STREQUAL "")
    set(${out} TRUE PARENT_SCOPE)
  endif()
endfunction()

# _cudaops_expand_home(<variable with a path>): ~ and ~/..., which a shell leaves as they are behind -D<name>=.
function(_cudaops_expand_home name)
  if("${${name}}" MATCHES "^~(/.*)?$" AND NOT "$ENV{HOME}" STREQUAL "")
    set(${name} "$ENV{HOME}${CMAKE_MATCH_1}" PARENT_SCOPE)
  endif()
endfunction()

# _cudaops_store(<out>): the per-user directory for what is brought from elsewhere (not created here).
function(_cudaops_store out)
  _cudaops_option(CUDAOPS_STORE store)
  if(store STREQUAL "")
    if(NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
      set(store "$ENV{XDG_CACHE_HOME}/cudaops")
    else()
      set(store "$ENV{HOME}/.cache/cudaops")
    endif()
  endif()
  _cudaops_expand_home(store)
  cmake_path(ABSOLUTE_PATH store BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" NORMALIZE)
  set(${out} "${store}" PARENT_SCOPE)
endfunction()
