# SPDX-License-Identifier: Apache-2.0
# Builds the manual, with the tools that docs/requirements.txt pins; they are brought into the build directory once.
#   cmake -Dtools=<directory for tools> -Dmanual=<directory> [-Dpython=<python3>] -P build.cmake

cmake_minimum_required(VERSION 3.25)

if(NOT python)
  find_program(python NAMES python3 REQUIRED)
endif()
set(only docs)
include("${CMAKE_CURRENT_LIST_DIR}/../tests/tools.cmake")
if(NOT EXISTS "${tools}/docs/.complete")
  message(
    FATAL_ERROR
    "docs: the manual's tools can't be installed.\n  wanted  what docs/requirements.txt names, in ${tools}/docs\n Fix: a network with PyPI, or PIP_INDEX_URL=<a mirror>"
  )
endif()
# One run at a time writes there: the target and the test use one directory.
file(LOCK "${manual}" DIRECTORY)
set(ENV{PYTHONPATH} "${tools}/docs")
set(ENV{PYTHONDONTWRITEBYTECODE} 1)
execute_process(COMMAND "${python}" "${CMAKE_CURRENT_LIST_DIR}/manual" "${manual}" COMMAND_ERROR_IS_FATAL ANY)
