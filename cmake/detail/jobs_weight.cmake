# SPDX-License-Identifier: Apache-2.0
# How much memory the compile of a source takes: as measured by tools/jobs_memory.sh in this build tree, else by the
# headers that the source and the project's own headers include.

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)
# An empty value of a keyword is a value.
if(POLICY CMP0174)
  cmake_policy(SET CMP0174 NEW)
endif()

include("${CMAKE_CURRENT_LIST_DIR}/use.cmake")
_cudaops_use(probe python report state)

# _cudaops_jobs_table(<kind> <out>)
#
# Rows <MiB>|<regex of header names>, the heaviest first. Measured with nvcc 13.0, one architecture, and g++ 12, torch
# 2.13, -O3; a quarter more for what the source itself adds, but for the heaviest, whose headers are nearly all.
function(_cudaops_jobs_table kind out)
  if(kind STREQUAL "device")
    set(
      ${out}
      "2970|^(torch/(extension|all|torch|python|nn)\\.h|torch/csrc/autograd/.*|pybind11/.*)$"
      "2970|^(cutlass|cute)/.*$"
      "1500|^(ATen/(ATen|Functions|NativeFunctions|TensorOperators)\\.h|torch/(types|script)\\.h)$"
      "800|^(cub/cub\\.cuh|thrust/.*)$"
      "700|^(ATen/.*|c10/.*|torch/library\\.h|torch/csrc/(api|jit)/.*)$"
      "500|^(torch/csrc/stable/.*|torch/headeronly/.*)$"
      "480|^(cub|cuda/std|cuda/experimental)/.*$"
      PARENT_SCOPE
    )
  else()
    set(
      ${out}
      "1600|^(torch/(extension|all|torch|python|nn)\\.h|torch/csrc/autograd/.*)$"
      "750|^(ATen/(ATen|Functions|NativeFunctions|TensorOperators)\\.h|torch/(types|script)\\.h|pybind11/.*)$"
      "500|^torch/(library\\.h|csrc/(api|jit)/.*)$"
      "320|^(ATen|c10)/.*$"
      "180|^(torch/csrc/stable/.*|torch/headeronly/.*)$"
      PARENT_SCOPE
    )
  endif()
endfunction()

# A source without any of these.
function(_cudaops_jobs_lightest kind out)
  if(kind STREQUAL "device")
    set(${out} 250 PARENT_SCOPE)
  else()
    set(${out} 100 PARENT_SCOPE)
  endif()
endfunction()

function(_cudaops_jobs_heaviest kind out)
  _cudaops_jobs_table(${kind} table)
  list(GET table 0 row)
  string(REGEX MATCH "^[0-9]+" size "${row}")
  set(${out} ${size} PARENT_SCOPE)
endfunction()

# _cudaops_jobs_weight(<path> <target> <kind> <out-size> <out-why>)
function(
  _cudaops_jobs_weight
  path
  target
  kind
  out_size
  out_why
)
  _cudaops_jobs_lightest(${kind} best)
  set(why "includes nothing large")
  _cudaops_jobs_table(${kind} table)
  _cudaops_jobs_directories(${target} directories top)
  # A translation for HIP may not be there yet; it lies in its mirror as its original lies in the project.
  if(path MATCHES "^.*/${target}\\.hipified/(.*)$")
    if(EXISTS "${top}/${CMAKE_MATCH_1}")
      set(path "${top}/${CMAKE_MATCH_1}")
    endif()
  endif()
  set(todo "${path}")
  set(seen "")
  set(left 200)
  while(NOT todo STREQUAL "" AND left GREATER 0)
    math(EXPR left "${left} - 1")
    list(POP_FRONT todo file)
    if(NOT EXISTS "${file}")
      continue()
    endif()
    cmake_path(GET file PARENT_PATH beside)
    file(STRINGS "${file}" lines REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"][^>\"]+[>\"]")
    foreach(line IN LISTS lines)
      if(NOT line MATCHES "include[ \t]*[<\"]([^>\"]+)[>\"]")
        continue()
      endif()
      set(name "${CMAKE_MATCH_1}")
      set(known FALSE)
      foreach(row IN LISTS table)
        string(REGEX MATCH "^([0-9]+)\\|(.*)$" row "${row}")
        set(size ${CMAKE_MATCH_1})
        if(name MATCHES "${CMAKE_MATCH_2}")
          set(known TRUE)
          if(size GREATER best)
            set(best ${size})
            set(why "includes ${name}")
          endif()
          break()
        endif()
      endforeach()
      if(known)
        continue()
      endif()
      # The project's own headers include for it.
      foreach(directory IN ITEMS "${beside}" LISTS directories)
        set(header "${directory}/${name}")
        if(EXISTS "${header}")
          cmake_path(NORMAL_PATH header)
          cmake_path(IS_PREFIX top "${header}" ours)
          if(ours AND NOT header IN_LIST seen)
            list(APPEND seen "${header}")
            list(APPEND todo "${header}")
          endif()
          break()
        endif()
      endforeach()
    endforeach()
  endwhile()
  set(${out_size} ${best} PARENT_SCOPE)
  set(${out_why} "${why}" PARENT_SCOPE)
endfunction()

# Include directories of a target and of what it links in this build; below <out-top> headers are the project's own.
function(_cudaops_jobs_directories target out out_top)
  set(all "")
  get_target_property(directories ${target} INCLUDE_DIRECTORIES)
  if(directories)
    list(APPEND all ${directories})
  endif()
  get_target_property(libraries ${target} LINK_LIBRARIES)
  if(NOT libraries)
    set(libraries "")
  endif()
  foreach(library IN LISTS libraries)
    if(TARGET "${library}")
      get_target_property(imported ${library} IMPORTED)
      get_target_property(directories ${library} INTERFACE_INCLUDE_DIRECTORIES)
      if(directories AND NOT imported)
        list(APPEND all ${directories})
      endif()
    endif()
  endforeach()
  list(TRANSFORM all REPLACE "^\\$<BUILD_INTERFACE:(.*)>$" "\\1")
  list(FILTER all EXCLUDE REGEX "\\$<")
  list(REMOVE_DUPLICATES all)
  get_target_property(top ${target} SOURCE_DIR)
  get_directory_property(project DIRECTORY "${top}" DEFINITION PROJECT_SOURCE_DIR)
  cmake_path(IS_PREFIX project "${top}" within)
  if(within)
    set(top "${project}")
  endif()
  set(${out} "${all}" PARENT_SCOPE)
  set(${out_top} "${top}" PARENT_SCOPE)
endfunction()

# _cudaops_jobs_sources(<target> <out-device> <out-host>): absolute paths of what is compiled.
function(_cudaops_jobs_sources target out_device out_host)
  set(device "")
  set(host "")
  get_target_property(sources ${target} SOURCES)
  get_target_property(source_dir ${target} SOURCE_DIR)
  get_target_property(binary_dir ${target} BINARY_DIR)
  if(NOT sources)
    set(sources "")
  endif()
  foreach(source IN LISTS sources)
    if(source MATCHES "\\$<")
      # A path inside of a generator expression, where it is written out.
      string(REGEX MATCH "[^$<>:,;\"]+\\.(cu|hip|c|cc|cpp|cxx|C)>" source "${source}")
      string(REGEX REPLACE ">$" "" source "${source}")
    endif()
    if(NOT source MATCHES "\\.(cu|hip|c|cc|cpp|cxx|C)$")
      continue()
    endif()
    set(path "${source}")
    if(NOT IS_ABSOLUTE "${path}")
      set(path "${source_dir}/${source}")
      if(NOT EXISTS "${path}" AND EXISTS "${binary_dir}/${source}")
        set(path "${binary_dir}/${source}")
      endif()
    endif()
    get_source_file_property(language "${path}" TARGET_DIRECTORY ${target} LANGUAGE)
    if(language MATCHES "^(CUDA|HIP)$" OR (NOT language AND path MATCHES "\\.(cu|hip)$"))
      list(APPEND device "${path}")
    else()
      list(APPEND host "${path}")
    endif()
  endforeach()
  set(${out_device} "${device}" PARENT_SCOPE)
  set(${out_host} "${host}" PARENT_SCOPE)
endfunction()

# _cudaops_jobs_threads(<target> <out>): the architectures that one nvcc compiles at once, each with memory of its own.
function(_cudaops_jobs_threads target out)
  set(${out} 1 PARENT_SCOPE)
  get_target_property(archs ${target} CUDA_ARCHITECTURES)
  if(NOT CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA" OR NOT archs)
    return()
  endif()
  list(TRANSFORM archs REPLACE "-(real|virtual)$" "")
  list(REMOVE_DUPLICATES archs)
  list(LENGTH archs most)
  if(archs MATCHES "^(all|all-major)$")
    set(most 8)
  endif()
  get_target_property(options ${target} COMPILE_OPTIONS)
  _cudaops_target_get(${target} THREADS ours)
  list(JOIN options " " options)
  if(" ${CMAKE_CUDA_FLAGS} ${options} ${ours}" MATCHES ".*[ :](--threads|-t)[= ]?([0-9]+)")
    set(threads ${CMAKE_MATCH_2})
    if(threads EQUAL 0 OR threads GREATER most)
      set(threads ${most})
    endif()
    set(${out} ${threads} PARENT_SCOPE)
  endif()
endfunction()

# _cudaops_jobs_measure(<tight> <out>)
#
# Whether compiles are measured in this build tree: <out> is the file that they are noted in, or empty. What the first
# configure finds decides for good, because a launcher more or less compiles everything again: where memory is tight,
# and GNU time is here.
function(_cudaops_jobs_measure tight out)
  set(${out} "" PARENT_SCOPE)
  if(NOT DEFINED CACHE{_CUDAOPS_JOBS_TIME})
    set(program "")
    if(tight)
      _cudaops_path_lookup(time programs)
      foreach(candidate IN LISTS programs)
        _cudaops_probe(try FILES "${candidate}" COMMAND "${candidate}" -f "%M KiB" "${CMAKE_COMMAND}" -E true)
        if(try_EXIT STREQUAL "0" AND try_ERROR MATCHES "^[0-9]+ KiB")
          set(program "${candidate}")
          break()
        endif()
      endforeach()
    endif()
    set(_CUDAOPS_JOBS_TIME "${program}" CACHE INTERNAL "measures the memory of compiles")
  endif()
  if("$CACHE{_CUDAOPS_JOBS_TIME}" STREQUAL "")
    return()
  endif()
  _cudaops_top_directories(ignored build)
  set(directory "${build}/CudaOps/jobs")
  file(MAKE_DIRECTORY "${directory}")
  cmake_path(SET script NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../tools/jobs_memory.sh")
  _cudaops_state_set(JOBS_LAUNCHER "/bin/sh;${script};$CACHE{_CUDAOPS_JOBS_TIME};${directory}/memory")
  set(${out} "${directory}/memory" PARENT_SCOPE)
endfunction()

# _cudaops_jobs_measured(<prefix> <file>)
#
# Sets <prefix>_<path> in MiB for each source in the file; the last line of a source counts. A process too small for a
# compiler is that of a cache that had the object.
function(_cudaops_jobs_measured prefix file)
  if(file STREQUAL "" OR NOT EXISTS "${file}")
    return()
  endif()
  _cudaops_top_directories(ignored build)
  file(STRINGS "${file}" lines REGEX "^[0-9]+ [^;]+$")
  list(LENGTH lines count)
  set(paths "")
  foreach(line IN LISTS lines)
    if(line MATCHES "^([0-9]+) (.+)$" AND CMAKE_MATCH_1 GREATER 65536)
      set(path "${CMAKE_MATCH_2}")
      math(EXPR size "${CMAKE_MATCH_1} / 1024")
      if(NOT IS_ABSOLUTE "${path}")
        set(path "${build}/${path}")
      endif()
      list(APPEND paths "${path}")
      set("size_${path}" ${size})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES paths)
  list(LENGTH paths different)
  set(text "")
  foreach(path IN LISTS paths)
    set("${prefix}_${path}" ${size_${path}} PARENT_SCOPE)
    math(EXPR size "${size_${path}} * 1024")
    string(APPEND text "${size} ${path}\n")
  endforeach()
  # Builds only add lines.
  math(EXPR many "4 * ${different} + 100")
  if(count GREATER many)
    file(WRITE "${file}" "${text}")
  endif()
endfunction()
