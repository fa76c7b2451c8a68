# SPDX-License-Identifier: Apache-2.0
# Configures the project in a way that can't work, and compares what it says, and its exit code, with <case>.txt.
#   cmake -Dcase=major|declared|warn -Dsource= -Dbuild= -Dgenerator= -Dpython= -Dtoolkit_root= -Dtoolkit_version=
#         -Dtorch_cuda= -P run.cmake

cmake_minimum_required(VERSION 3.25)

foreach(fact IN ITEMS python toolkit_root torch_cuda)
  if("${${fact}}" STREQUAL "")
    message("SKIPPED: a mismatch takes a Python with a torch for CUDA and a toolkit, and ${fact} is empty")
    return()
  endif()
endforeach()
string(REGEX MATCH "^[0-9]+\\.[0-9]+" toolkit "${toolkit_version}")

file(REMOVE_RECURSE "${build}")
set(environment "")
set(options "")
set(wanted_code 1)
if(case STREQUAL "major")
  # A stand-in for a torch of another CUDA major: the match reads files, it doesn't import torch.
  set(other_torch "2.10.0+cu128")
  set(other_cuda "12.8")
  if(toolkit VERSION_LESS 13)
    set(other_torch "2.13.0+cu130")
    set(other_cuda "13.0")
  endif()
  set(stand_in "${build}/stand_in/torch")
  file(WRITE "${stand_in}/__init__.py" "raise ImportError('a stand-in')\n")
  file(WRITE "${stand_in}/version.py" "__version__ = '${other_torch}'\ncuda = '${other_cuda}'\nhip = None\n")
  set(environment "PYTHONPATH=${build}/stand_in")
else()
  # The pair of this machine, declared not to fit.
  set(options "-DCUDAOPS_COMPATIBLE_VERSIONS=!${toolkit}:${torch_cuda}")
  if(case STREQUAL "warn")
    list(APPEND options -DCUDAOPS_VERSION_POLICY=WARN)
    set(wanted_code 0)
  endif()
endif()

execute_process(
  COMMAND
    "${CMAKE_COMMAND}" -E env ${environment} "${CMAKE_COMMAND}" -S "${source}" -B "${build}/build" -G "${generator}"
    "-DPython_EXECUTABLE=${python}" "-DCUDAToolkit_ROOT=${toolkit_root}" -DCMAKE_CUDA_ARCHITECTURES=80-real ${options}
  RESULT_VARIABLE code
  OUTPUT_VARIABLE output
  ERROR_VARIABLE text
)

file(READ "${CMAKE_CURRENT_LIST_DIR}/${case}.txt" wanted)
foreach(
  name
  IN
  ITEMS toolkit toolkit_version torch_cuda other_torch other_cuda
)
  # What goes into a regular expression.
  string(REGEX REPLACE "([.+])" "\\\\\\1" value "${${name}}")
  string(REPLACE "@${name}@" "${value}" wanted "${wanted}")
endforeach()
set(said "${text}")
foreach(variable IN ITEMS wanted said)
  # CMake wraps lines at a width that depends on the length of paths.
  string(REGEX REPLACE "[ \n]+" " " ${variable} "${${variable}}")
  string(STRIP "${${variable}}" ${variable})
endforeach()

execute_process(COMMAND "${CMAKE_COMMAND}" -E echo "${text}")
if(NOT code EQUAL wanted_code OR NOT said MATCHES "${wanted}")
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -E echo "${output}\nexit code ${code}, wanted ${wanted_code} and:\n${wanted}"
  )
  message(FATAL_ERROR "diagnosis.${case}: another text or exit code than expected")
endif()

# Programs read the same from the report, which is there after an error, too.
file(READ "${build}/build/cudaops-report.json" report)
string(JSON verdict GET "${report}" verdict)
if(NOT verdict STREQUAL "MISMATCH")
  message(FATAL_ERROR "diagnosis.${case}: the report says ${verdict}")
endif()
