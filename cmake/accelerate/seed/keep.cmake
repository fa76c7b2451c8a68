# SPDX-License-Identifier: Apache-2.0
# Writes the entries that seed.cmake reads. Apart from it, because most configures have nothing to keep.

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

if(NOT COMMAND _cudaops_use)
  include("${CMAKE_CURRENT_LIST_DIR}/../../detail/base/use.cmake")
endif()
_cudaops_use(accelerate/seed base/message base/probe base/stamps base/state base/store)

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

# _cudaops_seed_entry(<name> <out>): a cache entry as code that makes it, or "problem".
function(_cudaops_seed_entry name out)
  get_property(type CACHE ${name} PROPERTY TYPE)
  get_property(help CACHE ${name} PROPERTY HELPSTRING)
  get_property(advanced CACHE ${name} PROPERTY ADVANCED)
  set(value "$CACHE{${name}}")
  if(type STREQUAL "UNINITIALIZED")
    # Given by -D, and there before: only its value is CMake's.
    set(code "set_property(CACHE ${name} PROPERTY VALUE [==[${value}]==])\n")
  else()
    set(code "set(${name} [==[${value}]==] CACHE ${type} [==[${help}]==] FORCE)\n")
  endif()
  if("${value}${help}" MATCHES "[]]==[]]")
    set(code "problem")
  endif()
  if(advanced)
    string(APPEND code "set_property(CACHE ${name} PROPERTY ADVANCED 1)\n")
  endif()
  set(${out} "${code}" PARENT_SCOPE)
endfunction()

# _cudaops_seed_finish(<lang>): the detection is complete. Keeps it, and leaves none of the variables behind.
function(_cudaops_seed_finish lang)
  _cudaops_seed_keep(${lang})
  foreach(
    suffix
    IN
    ITEMS _key _compiler _entries _state ""
  )
    unset(_cudaops_seed_${lang}${suffix} PARENT_SCOPE)
  endforeach()
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
  set(entries "")
  foreach(name IN LISTS _cudaops_seed_${lang}_entries)
    _cudaops_seed_entry(${name} entry)
    string(APPEND entries "${entry}")
  endforeach()
  _cudaops_seed_facts(${lang} facts)
  file(READ "${record}" text)
  # <build>/CMakeFiles/<version> holds the record.
  cmake_path(SET build NORMALIZE "${CMAKE_PLATFORM_INFO_DIR}/../..")
  string(REGEX REPLACE "(.)/$" "\\1" build "${build}")
  string(FIND "${entries}${text}" "${build}" inside)
  if(NOT inside EQUAL -1 OR facts STREQUAL "" OR entries MATCHES "(^|\n)problem")
    _cudaops_verbose("Seed: ${lang} is not kept: it holds more than facts of the compiler")
    return()
  endif()
  string(LENGTH "${facts}" facts_length)
  string(LENGTH "${entries}" entries_length)
  string(CONCAT text "${facts}" "${entries}" "${text}")
  string(SHA1 digest "${text}")

  set(key "${_cudaops_seed_${lang}_key}")
  string(CONCAT text "# cudaops-seed 4 ${digest} ${facts_length} ${entries_length}\n" "${text}")
  _cudaops_state_get(SEED_STORE store)
  _cudaops_store_text("${store}" "${key}" "${text}" problem)
  if(problem STREQUAL "")
    _cudaops_verbose("Seed: ${lang} is kept, ${compiler}")
  else()
    _cudaops_verbose("Seed: ${lang} is not kept: ${problem}")
  endif()
endfunction()

# _cudaops_seed_facts(<lang> <out>)
#
# What can change under an unchanged key, as code for _cudaops_seed_lay(): parts of the compiler with their stamps,
# directories that exist, those that are named and don't, tools that CMake found and that it looked for in vain. Empty
# where that can't be written.
function(_cudaops_seed_facts lang out)
  set(${out} "" PARENT_SCOPE)
  _cudaops_seed_files(${lang} files dirs)
  _cudaops_seed_missing(${lang} missing)
  set(stamps "")
  foreach(file IN LISTS files)
    _cudaops_file_stamp("${file}" stamp)
    string(APPEND stamps " ${stamp}")
  endforeach()
  set(tools "")
  set(absent "")
  foreach(entry IN LISTS _cudaops_seed_${lang}_entries)
    get_property(type CACHE ${entry} PROPERTY TYPE)
    if(NOT type STREQUAL "FILEPATH" OR entry MATCHES "_COMPILER$")
      continue()
    endif()
    set(found "$CACHE{${entry}}")
    string(REGEX REPLACE "^CMAKE_(.*_COMPILER_)?" "" name "${entry}")
    string(TOLOWER "${name}" name)
    string(REPLACE "_" "-" name "${name}")
    if(found AND NOT IS_ABSOLUTE "${found}")
      # Given by the user as a name: CMake has its own ways with these.
      return()
    elseif(found)
      list(APPEND tools "${found}")
      cmake_path(GET found FILENAME found)
    elseif(entry MATCHES "_COMPILER_" AND CMAKE_${lang}_COMPILER_ID STREQUAL "GNU")
      list(APPEND absent "gcc-${name}")
    else()
      list(APPEND absent "${name}")
    endif()
    # With clang CMake takes LLVM's where they exist.
    if(CMAKE_${lang}_COMPILER_ID STREQUAL "Clang" AND NOT found MATCHES "llvm|clang|lld")
      list(APPEND absent "llvm-${name}")
      if(name STREQUAL "linker")
        list(APPEND absent ld.lld)
      endif()
    endif()
  endforeach()
  if("${files}${dirs}${missing}${tools}" MATCHES "]==]|[[]")
    return()
  endif()
  set(code "set(problem [==[]==])\nset(stamps [==[${stamps}]==])\n")
  foreach(
    list
    IN
    ITEMS files dirs missing tools absent
  )
    string(APPEND code "set(${list} [==[${${list}}]==])\n")
  endforeach()
  set(${out} "${code}" PARENT_SCOPE)
endfunction()

# _cudaops_seed_missing(<lang> <out>): directories that the compiler is told of and that aren't there: it passes over them.
function(_cudaops_seed_missing lang out)
  set(named "")
  foreach(
    variable
    IN
    ITEMS CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH COMPILER_PATH
  )
    string(REPLACE ":" ";" places "$ENV{${variable}}")
    list(APPEND named ${places})
  endforeach()
  _cudaops_seed_flags(${lang} flags)
  string(REGEX MATCHALL "[-, ](isystem|idirafter|iquote|-sysroot|I|L|B)[=, ]?[^ ,]+" options "${flags}")
  list(TRANSFORM options REPLACE "^.(isystem|idirafter|iquote|-sysroot|I|L|B)[=, ]?" "")
  set(missing "")
  foreach(path IN LISTS named options)
    if(NOT path STREQUAL "" AND NOT EXISTS "${path}")
      list(APPEND missing "${path}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES missing)
  set(${out} "${missing}" PARENT_SCOPE)
endfunction()

# _cudaops_seed_files(<lang> <out-files> <out-dirs>): what the detection depended on besides the compiler itself.
function(_cudaops_seed_files lang out_files out_dirs)
  set(compiler "${CMAKE_${lang}_COMPILER}")
  set(files "${compiler}")
  set(dirs "")
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
    set(dirs "${CMAKE_CUDA_COMPILER_LIBRARY_ROOT}/nvvm/libdevice")
    foreach(dir IN LISTS CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES)
      list(APPEND files "${dir}/cuda_runtime.h" "${dir}/crt/host_config.h")
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
    ITEMS prog-name=cc1plus prog-name=cc1 prog-name=as prog-name=collect2 prog-name=ld file-name=specs
  )
    _cudaops_run(answer COMMAND "${compiler}" -print-${question})
    string(STRIP "${answer_OUTPUT}" answer_OUTPUT)
    if(answer_EXIT STREQUAL "0" AND IS_ABSOLUTE "${answer_OUTPUT}" AND NOT answer_OUTPUT MATCHES "[\n;]")
      list(APPEND files "${answer_OUTPUT}")
    endif()
  endforeach()
  foreach(list IN ITEMS IMPLICIT_INCLUDE_DIRECTORIES IMPLICIT_LINK_DIRECTORIES HOST_IMPLICIT_LINK_DIRECTORIES)
    list(APPEND dirs ${CMAKE_${lang}_${list}})
  endforeach()
  foreach(list IN ITEMS files dirs)
    list(REMOVE_DUPLICATES ${list})
    set(there "")
    foreach(path IN LISTS ${list})
      if(EXISTS "${path}")
        list(APPEND there "${path}")
      endif()
    endforeach()
    set(${out_${list}} "${there}" PARENT_SCOPE)
  endforeach()
endfunction()
