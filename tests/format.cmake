# SPDX-License-Identifier: Apache-2.0
# Checks the format of every file of the repository, or mends it.
#   cmake -Dpython=<python3> -Dtools=<dir of tools.cmake> -Drepo=<checkout> [-Dfix=1] -P format.cmake

cmake_minimum_required(VERSION 3.25)

set(ENV{PYTHONPATH} "${tools}/format")
set(gersemi "${python}" -m gersemi)
set(clang_format "${tools}/format/clang_format/data/bin/clang-format")
if(NOT EXISTS "${tools}/format/.complete")
  message("CASE SKIPPED: no formatter in ${tools}/format (tests/tools.cmake fetches it)")
  return()
endif()

execute_process(
  COMMAND git -C "${repo}" ls-files --cached --others --exclude-standard
  RESULT_VARIABLE result
  OUTPUT_VARIABLE files
  ERROR_VARIABLE error
)
if(NOT result EQUAL 0)
  message("CASE SKIPPED: ${repo} is not a git checkout: ${error}")
  return()
endif()
string(REPLACE "\n" ";" files "${files}")
list(TRANSFORM files PREPEND "${repo}/")
# Others' work in progress may be listed and gone.
foreach(file IN LISTS files)
  if(NOT EXISTS "${file}")
    list(REMOVE_ITEM files "${file}")
  endif()
endforeach()
set(cmake_files "${files}")
list(FILTER cmake_files INCLUDE REGEX "(\\.cmake|/CMakeLists\\.txt)$")
set(cxx_files "${files}")
list(FILTER cxx_files INCLUDE REGEX "\\.(h|cpp|cu|cuh)$")
if(NOT cmake_files)
  message(FATAL_ERROR "no CMake file in ${repo}: the check would prove nothing")
endif()

if(fix)
  execute_process(COMMAND ${gersemi} -i ${cmake_files} COMMAND_ERROR_IS_FATAL ANY)
  if(cxx_files)
    execute_process(COMMAND "${clang_format}" -i ${cxx_files} COMMAND_ERROR_IS_FATAL ANY)
  endif()
  return()
endif()

set(failed FALSE)
execute_process(COMMAND ${gersemi} --check ${cmake_files} RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  set(failed TRUE)
endif()
if(cxx_files)
  execute_process(COMMAND "${clang_format}" --dry-run --Werror ${cxx_files} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    set(failed TRUE)
  endif()
endif()
if(failed)
  message(
    FATAL_ERROR
    "Some files are not formatted. Fix: cmake -Dpython=${python} -Dtools=${tools} -Drepo=${repo} -Dfix=1 -P tests/format.cmake"
  )
endif()
