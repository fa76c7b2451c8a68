# SPDX-License-Identifier: Apache-2.0
# Compiler detections of earlier configures, kept per user and laid down in fresh build trees.
#
# enable_language() asks CMAKE_MODULE_PATH first for CMakeDetermine<LANG>Compiler.cmake, CMakeTest<LANG>Compiler.cmake and
# Internal/CMakeInspect<LANG>Linker.cmake, in this order. The files of these names in accelerate/seed/ run at the very moment
# of a detection, in its scope and with its policies: they lay down what an earlier detection with the same inputs left
# (CMake<LANG>Compiler.cmake and cache entries), or call CMake's own module and keep what that leaves. A tree that starts
# so is what any tree is at its second configure.
#
# <store>/seeds/<key> is one text file, so that it is whole or not there: a checksum; what else must be as it was; the
# cache entries; CMake<LANG>Compiler.cmake. seed/keep.cmake writes it. The key holds all inputs that can be known before
# a compiler runs. Whatever isn't understood here goes the normal way, with a VERBOSE line.

_cudaops_use(base/message base/options base/programs base/stamps base/state)

# _cudaops_seed_begin() and _cudaops_seed_end(): languages enabled in between, in the caller's scope, are seeded.
function(_cudaops_seed_begin)
  set(_cudaops_seed_begun FALSE PARENT_SCOPE)
  _cudaops_option(CUDAOPS_SEED_COMPILERS wanted)
  cmake_path(SET hooks NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/seed")
  if(wanted AND CMAKE_HOST_SYSTEM_NAME STREQUAL "Linux" AND NOT hooks IN_LIST CMAKE_MODULE_PATH)
    _cudaops_store(store)
    _cudaops_state_set(SEED_STORE "${store}/seeds")
    # At the end: a project's own modules of these names are the project's business.
    set(CMAKE_MODULE_PATH ${CMAKE_MODULE_PATH} "${hooks}" PARENT_SCOPE)
    set(_cudaops_seed_begun TRUE PARENT_SCOPE)
  endif()
endfunction()

function(_cudaops_seed_end)
  if(_cudaops_seed_begun)
    cmake_path(SET hooks NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/seed")
    list(REMOVE_ITEM CMAKE_MODULE_PATH "${hooks}")
    set(CMAKE_MODULE_PATH ${CMAKE_MODULE_PATH} PARENT_SCOPE)
  endif()
  unset(_cudaops_seed_begun PARENT_SCOPE)
endfunction()

# _cudaops_seed_use(<lang> <policies>)
#
# Sets in the caller's scope _cudaops_seed_<lang> to HIT (all is laid down) or MISS (detect, then keep); unset: detect.
function(_cudaops_seed_use lang policies)
  unset(_cudaops_seed_${lang} PARENT_SCOPE)
  _cudaops_seed_key(${lang} "${policies}" key compiler doubt)
  if(doubt)
    _cudaops_verbose("Seed: ${lang} is detected: ${doubt}")
    return()
  endif()
  _cudaops_state_get(SEED_STORE store)
  _cudaops_seed_lay(${lang} "${store}/${key}" "${compiler}" problem)
  if(problem STREQUAL "")
    _cudaops_verbose("Seed: ${lang} as detected before, ${compiler}")
    set(_cudaops_seed_${lang} HIT PARENT_SCOPE)
    return()
  endif()
  _cudaops_verbose("Seed: ${lang} is detected: ${problem}")
  include("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/seed/keep.cmake")
  set(_cudaops_seed_${lang} MISS PARENT_SCOPE)
  set(_cudaops_seed_${lang}_key "${key}" PARENT_SCOPE)
  set(_cudaops_seed_${lang}_compiler "${compiler}" PARENT_SCOPE)
  set(_cudaops_seed_${lang}_entries "" PARENT_SCOPE)
endfunction()

# _cudaops_seed_lay(<lang> <file> <compiler> <out-problem>)
function(_cudaops_seed_lay lang file compiler out)
  # To CMake a file exists if it can be read.
  if(NOT EXISTS "${file}" OR IS_DIRECTORY "${file}")
    set(${out} "nothing is kept for these inputs" PARENT_SCOPE)
    return()
  endif()
  file(READ "${file}" text)
  string(FIND "${text}" "\n" line_end)
  string(SUBSTRING "${text}" 0 ${line_end} line)
  math(EXPR line_end "${line_end} + 1")
  string(SUBSTRING "${text}" ${line_end} -1 text)
  string(SHA1 digest "${text}")
  if(NOT line MATCHES "^# cudaops-seed 4 ([0-9a-f]+) ([0-9]+) ([0-9]+)$" OR NOT digest STREQUAL CMAKE_MATCH_1)
    set(problem "the entry is damaged")
  else()
    set(lengths ${CMAKE_MATCH_2} ${CMAKE_MATCH_3})
    # Code, because one evaluation is a tenth of the cost of reading data here. Sets files, stamps, dirs, missing,
    # tools, absent and problem.
    list(GET lengths 0 length)
    string(SUBSTRING "${text}" 0 ${length} code)
    string(SUBSTRING "${text}" ${length} -1 text)
    cmake_language(EVAL CODE "${code}")
    foreach(path IN LISTS dirs)
      if(NOT IS_DIRECTORY "${path}")
        set(problem "${path} is gone")
      endif()
    endforeach()
    foreach(path IN LISTS missing)
      if(EXISTS "${path}")
        set(problem "${path} wasn't there")
      endif()
    endforeach()
    set(now "")
    foreach(path IN LISTS files)
      _cudaops_file_stamp("${path}" stamp)
      if(stamp MATCHES ":absent$")
        set(problem "${path} is gone")
      endif()
      string(APPEND now " ${stamp}")
    endforeach()
    if(problem STREQUAL "" AND NOT now STREQUAL stamps)
      set(problem "a part of ${compiler} has changed")
    endif()
    # Tools that CMake would now find elsewhere, or at last.
    cmake_path(GET compiler PARENT_PATH dir)
    foreach(path IN LISTS tools)
      cmake_path(GET path FILENAME name)
      # CMake looks beside the compiler first.
      if(NOT path STREQUAL "${dir}/${name}" OR NOT EXISTS "${path}")
        unset(_cudaops_found)
        find_program(_cudaops_found NAMES "${name}" HINTS "${dir}" NO_CACHE NO_CMAKE_PATH NO_CMAKE_ENVIRONMENT_PATH)
        if(NOT _cudaops_found)
          set(problem "${path} isn't found any more")
        elseif(NOT _cudaops_found STREQUAL path)
          set(problem "${name} is ${_cudaops_found}, no longer ${path}")
        endif()
      endif()
    endforeach()
    if(absent)
      unset(_cudaops_found)
      find_program(_cudaops_found NAMES ${absent} HINTS "${dir}" NO_CACHE NO_CMAKE_PATH NO_CMAKE_ENVIRONMENT_PATH)
      if(_cudaops_found)
        set(problem "${_cudaops_found} wasn't there")
      endif()
    endif()
  endif()
  set(${out} "${problem}" PARENT_SCOPE)
  if(NOT problem STREQUAL "")
    # Never right again. Where it can't be removed, that is found out again.
    file(REMOVE "${file}")
    return()
  endif()
  list(GET lengths 1 length)
  string(SUBSTRING "${text}" 0 ${length} code)
  string(SUBSTRING "${text}" ${length} -1 text)
  cmake_language(EVAL CODE "${code}")
  file(WRITE "${CMAKE_PLATFORM_INFO_DIR}/CMake${lang}Compiler.cmake" "${text}")
endfunction()

# _cudaops_seed_flags(<lang> <out>): all that a detection may put on the compiler's command line.
function(_cudaops_seed_flags lang out)
  set(flags "$ENV{CFLAGS} $ENV{CXXFLAGS} $ENV{CUDAFLAGS} $ENV{CPPFLAGS} $ENV{LDFLAGS}")
  string(
    APPEND flags
    " $ENV{NVCC_PREPEND_FLAGS} $ENV{NVCC_APPEND_FLAGS} ${CMAKE_EXE_LINKER_FLAGS} ${CMAKE_EXE_LINKER_FLAGS_INIT}"
  )
  foreach(
    config
    IN
    ITEMS "" _DEBUG _RELEASE _RELWITHDEBINFO _MINSIZEREL
  )
    string(APPEND flags " ${CMAKE_${lang}_FLAGS${config}} ${CMAKE_${lang}_FLAGS${config}_INIT}")
  endforeach()
  set(${out} "${flags}" PARENT_SCOPE)
endfunction()

# _cudaops_seed_lookup(<program> <out>): stamp of what a compiler finds on PATH under this name.
function(_cudaops_seed_lookup program out)
  unset(_cudaops_found)
  find_program(
    _cudaops_found
    NAMES "${program}" NO_CACHE
    NO_PACKAGE_ROOT_PATH
    NO_CMAKE_PATH
    NO_CMAKE_ENVIRONMENT_PATH
    NO_CMAKE_SYSTEM_PATH
  )
  set(stamp "")
  if(_cudaops_found)
    _cudaops_file_stamp("${_cudaops_found}" stamp)
  endif()
  set(${out} "${program}=${stamp}" PARENT_SCOPE)
endfunction()

# _cudaops_seed_compiler(<lang> <out> <out-doubt>): the compiler that CMake is going to choose.
function(_cudaops_seed_compiler lang out out_doubt)
  set(${out} "" PARENT_SCOPE)
  set(${out_doubt} "" PARENT_SCOPE)
  set(env_C CC)
  set(env_CXX CXX)
  set(env_CUDA CUDACXX)
  set(given "${CMAKE_${lang}_COMPILER}")
  if(NOT given)
    set(given "$ENV{${env_${lang}}}")
  endif()
  if(NOT "${CMAKE_${lang}_COMPILER_ARG1}${CMAKE_GENERATOR_${lang}}" STREQUAL "" OR given MATCHES ";")
    set(${out_doubt} "the compiler is given with arguments" PARENT_SCOPE)
    return()
  endif()
  # A blank may also stand in its path, as CMake takes it where there is such a file.
  if(given MATCHES " " AND NOT EXISTS "${given}")
    set(${out_doubt} "the compiler is given with arguments" PARENT_SCOPE)
    return()
  endif()
  if(given MATCHES "/")
    if(NOT IS_ABSOLUTE "${given}" OR NOT EXISTS "${given}")
      set(${out_doubt} "${given} isn't a path here" PARENT_SCOPE)
      return()
    endif()
    set(${out} "${given}" PARENT_SCOPE)
    return()
  endif()

  # CMake's order: names on the outside, directories on the inside; beside compilers of other languages first.
  set(fallback "")
  if(given)
    set(names "${given}")
  elseif(lang STREQUAL "C")
    set(names "cc;gcc;cl;bcc;xlc;icx;clang")
  elseif(lang STREQUAL "CXX")
    set(names "c++;CC;g++;aCC;cl;bcc;xlC;icpx;icx;clang++")
  else()
    set(names nvcc)
    set(fallback "$ENV{CUDA_PATH}/bin")
  endif()
  set(hints "${CMAKE_${lang}_COMPILER_HINTS}")
  if(NOT CMAKE_${lang}_COMPILER)
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    foreach(other IN LISTS languages)
      if(IS_ABSOLUTE "${CMAKE_${other}_COMPILER}")
        cmake_path(GET CMAKE_${other}_COMPILER PARENT_PATH dir)
        list(APPEND hints "${dir}")
      endif()
    endforeach()
  endif()
  unset(_cudaops_found)
  if(hints)
    find_program(_cudaops_found NAMES ${names} PATHS ${hints} NO_DEFAULT_PATH NO_CACHE)
  endif()
  if(NOT _cudaops_found)
    unset(_cudaops_found)
    find_program(_cudaops_found NAMES ${names} NO_CACHE)
  endif()
  if(NOT _cudaops_found AND fallback)
    unset(_cudaops_found)
    find_program(_cudaops_found NAMES ${names} PATHS "${fallback}" NO_DEFAULT_PATH NO_CACHE)
  endif()
  if(NOT _cudaops_found)
    set(${out_doubt} "no compiler is found" PARENT_SCOPE)
    return()
  endif()
  set(${out} "${_cudaops_found}" PARENT_SCOPE)
endfunction()

# _cudaops_seed_key(<lang> <policies> <out-key> <out-compiler> <out-doubt>)
function(
  _cudaops_seed_key
  lang
  policies
  out_key
  out_compiler
  out_doubt
)
  set(doubt "")
  _cudaops_other_machine(machine)
  if(CMAKE_CROSSCOMPILING OR machine OR CMAKE_SYSROOT OR CMAKE_FIND_ROOT_PATH OR NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
    set(doubt "cross-compiling")
  elseif(CMAKE_VERSION VERSION_GREATER_EQUAL 4.5)
    # Each release may leave a detection's results elsewhere.
    set(doubt "seeds haven't been tried with CMake ${CMAKE_VERSION}")
  elseif(NOT CMAKE_GENERATOR MATCHES "^(Ninja|Ninja Multi-Config|Unix Makefiles)$")
    set(doubt "generator ${CMAKE_GENERATOR}")
  elseif(lang STREQUAL "CUDA" AND "${CMAKE_CUDA_ARCHITECTURES} $ENV{CUDAARCHS}" MATCHES "native")
    set(doubt "the GPUs are detected with it")
  endif()
  foreach(
    name
    IN
    ITEMS
      CMAKE_USER_MAKE_RULES_OVERRIDE
      CMAKE_USER_MAKE_RULES_OVERRIDE_${lang}
      CMAKE_${lang}_COMPILER_ID_RUN
      CMAKE_${lang}_COMPILER_FORCED
      CMAKE_${lang}_COMPILER_WORKS
      CMAKE_${lang}_ABI_COMPILED
  )
    if(DEFINED ${name})
      set(doubt "${name} is set")
    endif()
  endforeach()
  cmake_path(SET hooks NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/seed")
  list(REMOVE_ITEM CMAKE_MODULE_PATH "${hooks}")
  foreach(dir IN LISTS CMAKE_MODULE_PATH)
    if(IS_DIRECTORY "${dir}/Platform" OR IS_DIRECTORY "${dir}/Compiler" OR IS_DIRECTORY "${dir}/Internal")
      set(doubt "${dir} replaces modules of CMake")
    endif()
  endforeach()
  _cudaops_seed_flags(${lang} flags)
  if(flags MATCHES "(^|[ =,])(@|--?specs|--?optf|--options-file|--config|-fplugin|-include|-imacros|-wrapper)")
    set(doubt "the flags name files")
  endif()
  set(toolchain "")
  if(CMAKE_TOOLCHAIN_FILE)
    if(NOT EXISTS "${CMAKE_TOOLCHAIN_FILE}")
      set(doubt "${CMAKE_TOOLCHAIN_FILE} is looked for by CMake")
    else()
      file(READ "${CMAKE_TOOLCHAIN_FILE}" toolchain)
      # Variables are seen here; what else a file might do isn't.
      string(TOLOWER "${toolchain}" lower)
      if(
        lower
          MATCHES
          "(include|find_[a-z]+|execute_process|exec_program|file|cmake_language|variable_watch|set_property)[ \t\n]*\\(|env{"
      )
        set(doubt "${CMAKE_TOOLCHAIN_FILE} does more than set variables")
      endif()
    endif()
  endif()
  if(doubt STREQUAL "")
    _cudaops_seed_compiler(${lang} compiler doubt)
  endif()
  if(doubt STREQUAL "")
    _cudaops_program_stamp("${compiler}" stamp doubt)
  endif()
  if(NOT doubt STREQUAL "")
    set(${out_doubt} "${doubt}" PARENT_SCOPE)
    return()
  endif()

  _cudaops_file_stamp("${CMAKE_COMMAND}" cmake)
  _cudaops_file_stamp("${CMAKE_ROOT}/Modules/CMakeDetermine${lang}Compiler.cmake" module)
  set(text "4|${lang}|${CMAKE_VERSION}|${CMAKE_ROOT}|${cmake}|${module}|${CMAKE_HOST_SYSTEM_PROCESSOR}|${policies}\n")
  string(APPEND text "${compiler}|${stamp}\n${toolchain}\n")

  # Programs that compilers look for on PATH.
  set(tools as ld)
  if(lang STREQUAL "CUDA")
    list(APPEND tools gcc g++)
    foreach(given IN ITEMS "${CMAKE_CUDA_HOST_COMPILER}" "$ENV{CUDAHOSTCXX}" "$ENV{NVCC_CCBIN}")
      if(NOT given STREQUAL "")
        list(APPEND tools "${given}")
      endif()
    endforeach()
    file(GLOB gpus LIST_DIRECTORIES TRUE /dev/nvidia[0-9]* /dev/dxg)
    string(APPEND text "${gpus}\n")
  endif()
  foreach(tool IN LISTS tools)
    _cudaops_seed_lookup("${tool}" found)
    string(APPEND text "${found}\n")
  endforeach()

  _cudaops_program_environment(environment)
  string(APPEND text "${environment}")

  # All of CMake's variables but those that can't matter: an unknown one costs a detection, not a wrong answer.
  get_cmake_property(names VARIABLES)
  list(FILTER names INCLUDE REGEX "^(_?CMAKE_|CUDAToolkit_ROOT$)")
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  set(others "C;CXX;CUDA;HIP;OBJC;OBJCXX;Fortran;ASM;ISPC;Swift")
  list(REMOVE_ITEM others ${lang})
  list(JOIN others "|" others)
  list(FILTER names EXCLUDE REGEX "^CMAKE_(${others})([0-9][0-9])?_")
  if(languages)
    # Left by the detection of these, in this very configure only, and known from them.
    list(
      FILTER names
      EXCLUDE
      REGEX
        "^_CMAKE_|^CMAKE_COMPILER_IS_|^CMAKE_(SIZEOF_VOID_P|INTERNAL_PLATFORM_ABI|LIBRARY_ARCHITECTURE|COMPILER_SYSROOT|LINKER_[A-Z_]*SUPPORTED)$"
    )
  endif()
  list(
    FILTER names
    EXCLUDE
    REGEX
      "^CMAKE_((CURRENT|PROJECT|MATCH|MESSAGE|INSTALL|FIND_PACKAGE|CTEST|AUTOMOC|AUTOUIC|AUTORCC|ARGV?|EXPORT|SUPPRESS|WARN|ERROR)_?.*|(HOST_)?SYSTEM(_VERSION)?|SYSTEM_LOADED|SOURCE_DIR|BINARY_DIR|HOME_DIRECTORY|CACHEFILE_DIR|(MAJOR|MINOR|PATCH|TWEAK)_VERSION|VERSION|ROOT|HOST_.*|CACHE_.*|PARENT_LIST_FILE|LIST_FILE_NAME|[A-Z]+_COMMAND|COMMAND|PLATFORM_INFO_.*|BUILD_TYPE|MODULE_PATH|PREFIX_PATH|PROGRAM_PATH|MAKE_PROGRAM|UNAME|NUMBER_OF_MAKEFILES|VERBOSE_MAKEFILE|COLOR_.*|.*_OUTPUT_DIRECTORY(_.*)?|.*_(LOADED|RPATH)|STATE|FILES_DIRECTORY|TESTING_ENABLED)$"
  )
  list(SORT names)
  list(REMOVE_DUPLICATES names)
  set(values "")
  if(CMAKE_CUDA_ARCHITECTURES STREQUAL "OFF" AND "$ENV{CUDAARCHS}" STREQUAL "")
    # Then the detection doesn't read the architectures, and doesn't depend on those that are requested.
    list(REMOVE_ITEM names CMAKE_CUDA_ARCHITECTURES)
    string(APPEND values "CMAKE_CUDA_ARCHITECTURES=OFF\n")
  endif()
  foreach(name IN LISTS names)
    string(APPEND values "${name}=${${name}}|$CACHE{${name}}\n")
  endforeach()
  string(APPEND text "${values}")
  foreach(other IN LISTS languages)
    string(
      APPEND text
      "${other}=${CMAKE_${other}_COMPILER}|${CMAKE_${other}_COMPILER_ID}|${CMAKE_${other}_COMPILER_VERSION}|${CMAKE_${other}_COMPILER_TARGET}|${CMAKE_${other}_COMPILER_EXTERNAL_TOOLCHAIN}\n"
    )
  endforeach()
  if(DEFINED CACHE{CMAKE_${lang}_COMPILER})
    get_property(type CACHE CMAKE_${lang}_COMPILER PROPERTY TYPE)
    get_property(help CACHE CMAKE_${lang}_COMPILER PROPERTY HELPSTRING)
    string(APPEND text "${type}|${help}\n")
  endif()
  string(SHA1 key "${text}")
  set(${out_key} "${key}" PARENT_SCOPE)
  set(${out_compiler} "${compiler}" PARENT_SCOPE)
  set(${out_doubt} "" PARENT_SCOPE)
endfunction()
