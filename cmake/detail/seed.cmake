# SPDX-License-Identifier: Apache-2.0
# Compiler detections of earlier configures, kept per user and laid down in fresh build trees.
#
# enable_language() asks CMAKE_MODULE_PATH first for CMakeDetermine<LANG>Compiler.cmake, CMakeTest<LANG>Compiler.cmake and
# Internal/CMakeInspect<LANG>Linker.cmake, in this order. The files of these names in detail/seed/ run at the very moment
# of a detection, in its scope and with its policies: they lay down what an earlier detection with the same inputs left (CMake<LANG>Compiler.cmake and cache entries), or call
# CMake's own module and keep what that leaves. A tree that starts so is what any tree is at its second configure.
#
# <store>/seeds/<key> is one text file, so that it is whole or not there: a checksum; the files that the detection
# depended on; the cache entries; CMake<LANG>Compiler.cmake. The key holds all inputs that can be known before a compiler
# runs. Whatever isn't understood here goes the normal way, with a VERBOSE line.

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

include("${CMAKE_CURRENT_LIST_DIR}/message.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/options.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/probe.cmake")

# _cudaops_seed_begin() and _cudaops_seed_end(): languages enabled in between, in the caller's scope, are seeded.
function(_cudaops_seed_begin)
  _cudaops_option(CUDAOPS_SEED_COMPILERS wanted)
  cmake_path(SET hooks NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/seed")
  if(wanted AND CMAKE_HOST_SYSTEM_NAME STREQUAL "Linux" AND NOT hooks IN_LIST CMAKE_MODULE_PATH)
    # At the end: a project's own modules of these names are the project's business.
    set(CMAKE_MODULE_PATH ${CMAKE_MODULE_PATH} "${hooks}" PARENT_SCOPE)
  endif()
endfunction()

function(_cudaops_seed_end)
  cmake_path(SET hooks NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/seed")
  if(hooks IN_LIST CMAKE_MODULE_PATH)
    list(REMOVE_ITEM CMAKE_MODULE_PATH "${hooks}")
    if(CMAKE_MODULE_PATH STREQUAL "")
      unset(CMAKE_MODULE_PATH PARENT_SCOPE)
    else()
      set(CMAKE_MODULE_PATH "${CMAKE_MODULE_PATH}" PARENT_SCOPE)
    endif()
  endif()
endfunction()

# _cudaops_seed_use(<lang> <policies>)
#
# Sets in the caller's scope _cudaops_seed_<lang> to HIT (all is laid down), MISS (detect, then keep) or OFF (detect).
function(_cudaops_seed_use lang policies)
  set(_cudaops_seed_${lang} OFF PARENT_SCOPE)
  _cudaops_seed_key(${lang} "${policies}" key compiler doubt)
  if(doubt)
    _cudaops_verbose("Seed: ${lang} is detected: ${doubt}")
    return()
  endif()
  _cudaops_store(store)
  _cudaops_seed_lay(${lang} "${store}/seeds/${key}" "${compiler}" problem)
  if(problem STREQUAL "")
    _cudaops_verbose("Seed: ${lang} as detected before, ${compiler}")
    set(_cudaops_seed_${lang} HIT PARENT_SCOPE)
    return()
  endif()
  _cudaops_verbose("Seed: ${lang} is detected: ${problem}")
  set(_cudaops_seed_${lang} MISS PARENT_SCOPE)
  set(_cudaops_seed_${lang}_key "${key}" PARENT_SCOPE)
  set(_cudaops_seed_${lang}_compiler "${compiler}" PARENT_SCOPE)
  set(_cudaops_seed_${lang}_entries "" PARENT_SCOPE)
endfunction()

# _cudaops_seed_watch(<lang>) and _cudaops_seed_note(<lang>): between them cache entries come or change, which are noted.
function(_cudaops_seed_watch lang)
  _cudaops_seed_cache_state(state)
  set(_cudaops_seed_${lang}_state "${state}" PARENT_SCOPE)
endfunction()

function(_cudaops_seed_note lang)
  _cudaops_seed_cache_state(state)
  set(entries ${_cudaops_seed_${lang}_entries})
  list(REMOVE_ITEM state ${_cudaops_seed_${lang}_state})
  list(TRANSFORM state REPLACE ":[0-9a-f]+$" "")
  list(APPEND entries ${state})
  list(REMOVE_DUPLICATES entries)
  set(_cudaops_seed_${lang}_entries "${entries}" PARENT_SCOPE)
endfunction()

# _cudaops_seed_cache_state(<out>): "<name>:<digest>" of each cache entry.
function(_cudaops_seed_cache_state out)
  get_cmake_property(names CACHE_VARIABLES)
  set(state "")
  foreach(name IN LISTS names)
    if(name MATCHES "^[A-Za-z0-9_.+-]+$" AND NOT name MATCHES "^_CUDAOPS_")
      _cudaops_seed_entry(${name} line)
      string(SHA1 digest "${line}")
      list(APPEND state "${name}:${digest}")
    endif()
  endforeach()
  set(${out} "${state}" PARENT_SCOPE)
endfunction()

# _cudaops_seed_entry(<name> <out>): a cache entry as one line of a seed.
function(_cudaops_seed_entry name out)
  get_property(type CACHE ${name} PROPERTY TYPE)
  get_property(help CACHE ${name} PROPERTY HELPSTRING)
  get_property(advanced CACHE ${name} PROPERTY ADVANCED)
  if(NOT advanced)
    set(advanced 0)
  endif()
  string(CONCAT line "entry ${name}|${type}|${advanced}|${help}|" "$CACHE{${name}}")
  set(${out} "${line}" PARENT_SCOPE)
endfunction()

# _cudaops_seed_lay(<lang> <file> <compiler> <out-problem>)
function(_cudaops_seed_lay lang file compiler out)
  if(NOT EXISTS "${file}")
    set(${out} "nothing is kept for these inputs" PARENT_SCOPE)
    return()
  endif()
  file(READ "${file}" text)
  set(problem "")
  # What is between the checksum and the end must be what was written.
  if(NOT text MATCHES "^cudaops-seed 1 ([0-9a-f]+)\n")
    set(problem "the entry can't be read")
  else()
    set(expected "${CMAKE_MATCH_1}")
    string(LENGTH "${CMAKE_MATCH_0}" begin)
    string(SUBSTRING "${text}" ${begin} -1 text)
    string(SHA1 actual "${text}")
    string(FIND "${text}" "\n\n" head_end)
    if(NOT actual STREQUAL expected OR head_end EQUAL -1)
      set(problem "the entry is damaged")
    endif()
  endif()
  if(problem STREQUAL "")
    string(SUBSTRING "${text}" 0 ${head_end} head)
    math(EXPR head_end "${head_end} + 2")
    string(SUBSTRING "${text}" ${head_end} -1 record)
    # Lines, not a list: values may hold semicolons and brackets.
    string(REGEX MATCHALL "(^|\n)file [^\n]*" files "${head}")
    foreach(line IN LISTS files)
      string(REGEX REPLACE "^\n?file " "" line "${line}")
      string(REGEX REPLACE "^[^ ]* " "" path "${line}")
      _cudaops_seed_stamp("${path}" now)
      if(NOT now STREQUAL line)
        set(problem "${path} has changed")
        break()
      endif()
    endforeach()
  endif()
  if(problem STREQUAL "")
    set(clang FALSE)
    if(record MATCHES "set\\(CMAKE_${lang}_COMPILER_ID \"Clang\"\\)")
      set(clang TRUE)
    endif()
    _cudaops_seed_tools("${head}" "${compiler}" ${clang} problem)
  endif()
  if(NOT problem STREQUAL "")
    # Never right again. Where it can't be removed, it is found out again.
    file(REMOVE "${file}")
    set(${out} "${problem}" PARENT_SCOPE)
    return()
  endif()
  while(head MATCHES "(^|\n)entry ([^|\n]*)[|]([A-Z]*)[|]([01])[|]([^|\n]*)[|]([^\n]*)")
    set(name "${CMAKE_MATCH_2}")
    set(${name} "${CMAKE_MATCH_6}" CACHE ${CMAKE_MATCH_3} "${CMAKE_MATCH_5}" FORCE)
    if(CMAKE_MATCH_4)
      set_property(CACHE ${name} PROPERTY ADVANCED 1)
    endif()
    string(LENGTH "${CMAKE_MATCH_0}" length)
    string(FIND "${head}" "${CMAKE_MATCH_0}" begin)
    math(EXPR begin "${begin} + ${length}")
    string(SUBSTRING "${head}" ${begin} -1 head)
  endwhile()
  file(WRITE "${CMAKE_PLATFORM_INFO_DIR}/CMake${lang}Compiler.cmake" "${record}")
  set(${out} "" PARENT_SCOPE)
endfunction()

# _cudaops_seed_tools(<head> <compiler> <clang> <out-problem>)
#
# Whether CMake would still find the same tools (ar, ld, nm...) beside the compiler or on PATH. With clang it prefers
# LLVM's.
function(_cudaops_seed_tools head compiler clang out)
  set(${out} "" PARENT_SCOPE)
  cmake_path(GET compiler PARENT_PATH dir)
  string(REGEX MATCHALL "(^|\n)entry CMAKE_[A-Z_0-9]+[|]FILEPATH[|][^\n]*" entries "${head}")
  foreach(entry IN LISTS entries)
    string(REGEX MATCH "entry CMAKE_([A-Z_0-9]+)[|].*[|]([^|]*)$" ignored "${entry}")
    set(tool "${CMAKE_MATCH_1}")
    set(kept "${CMAKE_MATCH_2}")
    if(tool MATCHES "_COMPILER$")
      continue()
    endif()
    if(NOT kept MATCHES "-NOTFOUND$")
      cmake_path(GET kept FILENAME names)
    elseif(tool MATCHES "_COMPILER_(.*)$")
      string(TOLOWER "gcc-${CMAKE_MATCH_1}" names)
    else()
      string(TOLOWER "${tool}" names)
    endif()
    if(clang AND NOT names MATCHES "^(llvm|clang|ld[.]lld)")
      string(REPLACE "gcc-" "" other "${names}")
      list(PREPEND names "llvm-${other}" "${other}.lld")
    endif()
    unset(found)
    find_program(found NAMES ${names} HINTS "${dir}" NO_CACHE NO_CMAKE_PATH NO_CMAKE_ENVIRONMENT_PATH)
    if(NOT found STREQUAL kept AND (found OR NOT kept MATCHES "-NOTFOUND$"))
      set(${out} "${tool} would be ${found}, no longer ${kept}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# _cudaops_seed_stamp(<path> <out>): "<what identifies its content> <path>".
function(_cudaops_seed_stamp path out)
  if(IS_DIRECTORY "${path}")
    set(${out} "directory ${path}" PARENT_SCOPE)
  elseif(EXISTS "${path}")
    file(REAL_PATH "${path}" real)
    file(SIZE "${real}" size)
    file(TIMESTAMP "${real}" time "%s.%f" UTC)
    set(${out} "${size}:${time}:${real} ${path}" PARENT_SCOPE)
  else()
    set(${out} "absent ${path}" PARENT_SCOPE)
  endif()
endfunction()

# _cudaops_seed_program(<path> <out> <out-doubt>)
#
# Stamp of a program that is about to be run. What a script does follows from its text, from the variables it reads and
# from the programs it names; where that can't be seen from the text it is in doubt.
function(_cudaops_seed_program path out out_doubt)
  set(${out_doubt} "" PARENT_SCOPE)
  file(REAL_PATH "${path}" real)
  cmake_path(GET real FILENAME name)
  if(name MATCHES "ccache|distcc|icecc|buildcache|colorgcc")
    set(${out_doubt} "${path} is ${name}, which looks for the compiler itself" PARENT_SCOPE)
    return()
  endif()
  _cudaops_seed_stamp("${path}" stamp)
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
    string(REGEX MATCHALL "/[A-Za-z0-9_./+-]+" paths "${text}")
    foreach(other IN LISTS paths)
      if(EXISTS "${other}" AND NOT IS_DIRECTORY "${other}")
        file(READ "${other}" magic LIMIT 2 HEX)
        if(magic STREQUAL "2321")
          set(${out_doubt} "${path} calls the script ${other}" PARENT_SCOPE)
          return()
        endif()
        _cudaops_seed_stamp("${other}" other)
        string(APPEND stamp " ${other}")
      endif()
    endforeach()
  endif()
  set(${out} "${stamp}" PARENT_SCOPE)
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
  if(NOT "${CMAKE_${lang}_COMPILER_ARG1}${CMAKE_GENERATOR_${lang}}" STREQUAL "" OR given MATCHES "[; ]")
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
    set(
      names
      cc
      gcc
      cl
      bcc
      xlc
      icx
      clang
    )
  elseif(lang STREQUAL "CXX")
    set(
      names
      c++
      CC
      g++
      aCC
      cl
      bcc
      xlC
      icpx
      icx
      clang++
    )
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
  unset(found)
  if(hints)
    find_program(found NAMES ${names} PATHS ${hints} NO_DEFAULT_PATH NO_CACHE)
  endif()
  if(NOT found)
    unset(found)
    find_program(found NAMES ${names} NO_CACHE)
  endif()
  if(NOT found AND fallback)
    unset(found)
    find_program(found NAMES ${names} PATHS "${fallback}" NO_DEFAULT_PATH NO_CACHE)
  endif()
  if(NOT found)
    set(${out_doubt} "no compiler is found" PARENT_SCOPE)
    return()
  endif()
  set(${out} "${found}" PARENT_SCOPE)
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
  if(CMAKE_CROSSCOMPILING OR CMAKE_SYSROOT OR CMAKE_FIND_ROOT_PATH OR NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
    set(doubt "cross-compiling")
  elseif(CMAKE_VERSION VERSION_GREATER_EQUAL 4.5)
    # Each release may leave a detection's results elsewhere.
    set(doubt "seeds haven't been tried with CMake ${CMAKE_VERSION}")
  elseif(NOT CMAKE_GENERATOR MATCHES "^(Ninja|Ninja Multi-Config|Unix Makefiles)$")
    set(doubt "generator ${CMAKE_GENERATOR}")
  elseif("${CMAKE_CUDA_ARCHITECTURES}$ENV{CUDAARCHS}" STREQUAL "native")
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
    _cudaops_seed_program("${compiler}" stamp doubt)
  endif()
  if(NOT doubt STREQUAL "")
    set(${out_doubt} "${doubt}" PARENT_SCOPE)
    return()
  endif()

  _cudaops_seed_stamp("${CMAKE_COMMAND}" cmake)
  _cudaops_seed_stamp("${CMAKE_ROOT}/Modules/CMakeDetermine${lang}Compiler.cmake" module)
  set(text "1|${lang}|${CMAKE_VERSION}|${cmake}|${module}|${policies}\n${compiler}|${stamp}\n${toolchain}\n")

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
    unset(found)
    find_program(
      found
      NAMES "${tool}" NO_CACHE
      NO_PACKAGE_ROOT_PATH
      NO_CMAKE_PATH
      NO_CMAKE_ENVIRONMENT_PATH
      NO_CMAKE_SYSTEM_PATH
    )
    if(found)
      _cudaops_seed_stamp("${found}" found)
    endif()
    string(APPEND text "${tool}|${found}\n")
  endforeach()

  foreach(
    name
    IN
    ITEMS
      CFLAGS
      CXXFLAGS
      CUDAFLAGS
      CPPFLAGS
      LDFLAGS
      CC
      CXX
      CUDACXX
      CUDAHOSTCXX
      CUDAARCHS
      CUDA_PATH
      CUDAToolkit_ROOT
      CUDA_VISIBLE_DEVICES
      CUDA_DEVICE_ORDER
      NVCC_PREPEND_FLAGS
      NVCC_APPEND_FLAGS
      NVCC_CCBIN
      CPATH
      C_INCLUDE_PATH
      CPLUS_INCLUDE_PATH
      OBJC_INCLUDE_PATH
      LIBRARY_PATH
      COMPILER_PATH
      GCC_EXEC_PREFIX
      GCC_COMPARE_DEBUG
      COLLECT_NO_DEMANGLE
      DEPENDENCIES_OUTPUT
      SUNPRO_DEPENDENCIES
      CCC_OVERRIDE_OPTIONS
      CLANG_CONFIG_FILE_SYSTEM_DIR
      CLANG_CONFIG_FILE_USER_DIR
      CLANG_NO_DEFAULT_CONFIG
      SDKROOT
      LDEMULATION
      LD_RUN_PATH
      LD_LIBRARY_PATH
      LD_PRELOAD
      GNUTARGET
      LANG
      LC_ALL
      LC_MESSAGES
      SOURCE_DATE_EPOCH
      CMAKE_CUDA_ARCHITECTURES_NATIVE_CLAMP
      CMAKE_NO_VERBOSE
  )
    if(DEFINED ENV{${name}})
      string(APPEND text "${name}=$ENV{${name}}\n")
    endif()
  endforeach()

  # All of CMake's variables but those that can't matter: an unknown one costs a detection, not a wrong answer.
  get_cmake_property(names VARIABLES)
  list(FILTER names INCLUDE REGEX "^(_?CMAKE_|CUDAToolkit_ROOT$)")
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  set(
    others
    C
    CXX
    CUDA
    HIP
    OBJC
    OBJCXX
    Fortran
    ASM
    ISPC
    Swift
  )
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
      "^CMAKE_((CURRENT|PROJECT|MATCH|MESSAGE|INSTALL|FIND_PACKAGE|CTEST|AUTOMOC|AUTOUIC|AUTORCC|ARGV?|EXPORT|SUPPRESS|WARN|ERROR)_?.*|(HOST_)?SYSTEM(_VERSION)?|SYSTEM_LOADED|SOURCE_DIR|BINARY_DIR|HOME_DIRECTORY|CACHEFILE_DIR|CACHE_.*|PARENT_LIST_FILE|LIST_FILE_NAME|[A-Z]+_COMMAND|COMMAND|PLATFORM_INFO_.*|BUILD_TYPE|MODULE_PATH|PREFIX_PATH|PROGRAM_PATH|MAKE_PROGRAM|UNAME|NUMBER_OF_MAKEFILES|VERBOSE_MAKEFILE|COLOR_.*|.*_OUTPUT_DIRECTORY(_.*)?|.*_(LOADED|RPATH)|STATE|FILES_DIRECTORY)$"
  )
  list(SORT names)
  foreach(name IN LISTS names)
    string(APPEND text "${name}=${${name}}\n")
  endforeach()
  foreach(other IN LISTS languages)
    string(
      APPEND text
      "${other}=${CMAKE_${other}_COMPILER}|${CMAKE_${other}_COMPILER_ID}|${CMAKE_${other}_COMPILER_VERSION}|${CMAKE_${other}_COMPILER_TARGET}|${CMAKE_${other}_COMPILER_EXTERNAL_TOOLCHAIN}\n"
    )
  endforeach()
  if(DEFINED CACHE{CMAKE_${lang}_COMPILER})
    _cudaops_seed_entry(CMAKE_${lang}_COMPILER line)
    string(APPEND text "${line}\n")
  endif()
  string(SHA1 key "${text}")
  if(DEFINED ENV{_CUDAOPS_SEED_DUMP})
    file(WRITE "$ENV{_CUDAOPS_SEED_DUMP}.${lang}" "${text}")
  endif()
  set(${out_key} "${key}" PARENT_SCOPE)
  set(${out_compiler} "${compiler}" PARENT_SCOPE)
  set(${out_doubt} "" PARENT_SCOPE)
endfunction()

# _cudaops_seed_keep(<lang>): what the detection just done has left goes to the store.
function(_cudaops_seed_keep lang)
  set(record "${CMAKE_PLATFORM_INFO_DIR}/CMake${lang}Compiler.cmake")
  if(NOT CMAKE_${lang}_COMPILER_WORKS OR NOT CMAKE_${lang}_ABI_COMPILED OR NOT EXISTS "${record}")
    return()
  endif()
  set(compiler "${_cudaops_seed_${lang}_compiler}")
  if(NOT CMAKE_${lang}_COMPILER STREQUAL compiler OR NOT CMAKE_${lang}_COMPILER_ID MATCHES "^(GNU|Clang|NVIDIA)$")
    _cudaops_verbose(
      "Seed: ${lang} is not kept: ${CMAKE_${lang}_COMPILER} (${CMAKE_${lang}_COMPILER_ID}), ${compiler} was expected"
    )
    return()
  endif()
  file(READ "${record}" text)
  set(head "")
  foreach(name IN LISTS _cudaops_seed_${lang}_entries)
    _cudaops_seed_entry(${name} line)
    string(APPEND head "${line}\n")
  endforeach()
  string(REGEX REPLACE "[^\n]" "" lines "${head}")
  string(LENGTH "${lines}" lines)
  list(LENGTH _cudaops_seed_${lang}_entries entries)
  string(FIND "${head}${text}" "${CMAKE_BINARY_DIR}" inside)
  if(NOT lines EQUAL entries OR NOT inside EQUAL -1)
    _cudaops_verbose("Seed: ${lang} is not kept: it holds more than facts of the compiler")
    return()
  endif()
  _cudaops_seed_files(${lang} files)
  foreach(file IN LISTS files)
    _cudaops_seed_stamp("${file}" stamp)
    string(APPEND head "file ${stamp}\n")
  endforeach()
  string(CONCAT text "${head}" "\n" "${text}")
  string(SHA1 digest "${text}")

  # Written beside and renamed: another configure sees all of it or nothing.
  set(key "${_cudaops_seed_${lang}_key}")
  _cudaops_store(store)
  string(SHA1 place "${CMAKE_BINARY_DIR}")
  set(ours "${CMAKE_BINARY_DIR}/CMakeFiles/cudaops/seed-${lang}")
  set(beside "${store}/seeds/.${key}.${place}")
  string(CONCAT text "cudaops-seed 1 ${digest}\n" "${text}")
  file(WRITE "${ours}" "${text}")
  if(NOT IS_DIRECTORY "${store}/seeds")
    _cudaops_run(made COMMAND "${CMAKE_COMMAND}" -E make_directory "${store}/seeds")
  endif()
  file(COPY_FILE "${ours}" "${beside}" RESULT problem)
  if(problem STREQUAL "0")
    file(RENAME "${beside}" "${store}/seeds/${key}" RESULT problem)
  endif()
  file(REMOVE "${ours}")
  if(problem STREQUAL "0")
    _cudaops_verbose("Seed: ${lang} is kept, ${compiler}")
    _cudaops_seed_prune("${store}/seeds")
  else()
    if(EXISTS "${beside}")
      file(REMOVE "${beside}")
    endif()
    _cudaops_verbose("Seed: ${lang} is not kept: ${store}/seeds can't be written (${problem})")
  endif()
endfunction()

# _cudaops_seed_files(<lang> <out>): files that the detection depended on and that can change under an unchanged key.
function(_cudaops_seed_files lang out)
  set(compiler "${CMAKE_${lang}_COMPILER}")
  set(files "${compiler}")
  if(CMAKE_${lang}_COMPILER_ID STREQUAL "NVIDIA")
    set(top "${CMAKE_CUDA_COMPILER_TOOLKIT_ROOT}")
    foreach(
      file
      IN
      ITEMS
        bin/nvcc
        bin/nvcc.profile
        bin/cudafe++
        bin/ptxas
        bin/fatbinary
        bin/nvlink
        bin/crt/link.stub
        nvvm/bin/cicc
        bin/cicc
        version.json
    )
      list(APPEND files "${top}/${file}")
    endforeach()
    list(APPEND files "${CMAKE_CUDA_COMPILER_LIBRARY_ROOT}/nvvm/libdevice")
    foreach(dir IN LISTS CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES)
      list(APPEND files "${dir}" "${dir}/cuda_runtime.h" "${dir}/crt/host_config.h")
    endforeach()
    if(IS_ABSOLUTE "${CMAKE_CUDA_HOST_LINK_LAUNCHER}")
      list(APPEND files "${CMAKE_CUDA_HOST_LINK_LAUNCHER}")
      set(compiler "${CMAKE_CUDA_HOST_LINK_LAUNCHER}")
    endif()
    if(IS_ABSOLUTE "${CMAKE_CUDA_HOST_COMPILER}")
      list(APPEND files "${CMAKE_CUDA_HOST_COMPILER}")
    endif()
  endif()
  # gcc and clang say themselves where their pieces are.
  foreach(
    question
    IN
    ITEMS
      prog-name=cc1plus
      prog-name=cc1
      prog-name=as
      prog-name=collect2
      prog-name=ld
      file-name=specs
      file-name=libgcc.a
      file-name=crt1.o
      file-name=libstdc++.so
  )
    _cudaops_run(answer COMMAND "${compiler}" -print-${question})
    string(STRIP "${answer_OUTPUT}" answer_OUTPUT)
    if(answer_EXIT STREQUAL "0" AND IS_ABSOLUTE "${answer_OUTPUT}" AND NOT answer_OUTPUT MATCHES "[\n;]")
      list(APPEND files "${answer_OUTPUT}")
    endif()
  endforeach()
  # That they are there; what is in them is none of the detection's business.
  foreach(list IN ITEMS IMPLICIT_INCLUDE_DIRECTORIES IMPLICIT_LINK_DIRECTORIES HOST_IMPLICIT_LINK_DIRECTORIES)
    list(APPEND files ${CMAKE_${lang}_${list}})
  endforeach()
  list(REMOVE_DUPLICATES files)
  list(FILTER files EXCLUDE REGEX "\n")
  set(${out} "${files}" PARENT_SCOPE)
endfunction()

# _cudaops_seed_prune(<dir>): entries whose inputs never come back (a CMake in a directory of one build) don't pile up.
function(_cudaops_seed_prune dir)
  file(GLOB entries LIST_DIRECTORIES FALSE "${dir}/*")
  list(LENGTH entries number)
  if(number LESS 256)
    return()
  endif()
  set(dated "")
  foreach(entry IN LISTS entries)
    if(EXISTS "${entry}")
      file(TIMESTAMP "${entry}" time "%s" UTC)
      cmake_path(GET entry FILENAME name)
      list(APPEND dated "${time} ${name}")
    endif()
  endforeach()
  list(SORT dated COMPARE NATURAL)
  list(SUBLIST dated 0 128 dated)
  foreach(entry IN LISTS dated)
    string(REGEX REPLACE "^[^ ]* " "" name "${entry}")
    file(REMOVE "${dir}/${name}")
  endforeach()
endfunction()
