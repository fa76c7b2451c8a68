# SPDX-License-Identifier: Apache-2.0
# For the suites of the commands that make targets: machines, calls that must be refused, what became of a target.

# No toolkit of the machine that runs the tests: /usr/local is left out, PATH holds build tools only.
set(commands_HEAD "set(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH OFF)")
set(commands_USAGE "<usage>")

# machine(CPU|CUDA|<torch's own words>...): lays down a torch and, for CUDA, a toolkit; the steps that follow use them.
#
# Anything else than CPU or CUDA goes to fake_torch() as it stands; no toolkit then.
function(machine)
  set(args "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
  if("${ARGV0}" STREQUAL "CUDA")
    fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
    fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
    list(APPEND args "-DCUDAToolkit_ROOT=${case_DIR}/cuda" -DCMAKE_CUDA_ARCHITECTURES=80)
  elseif("${ARGV0}" STREQUAL "CPU")
    fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU)
  else()
    fake_torch("${case_DIR}/venv" ${ARGN})
  endif()
  set(case_ARGS "${args}" PARENT_SCOPE)
  foreach(
    file
    IN
    ITEMS op.cpp op_cuda.cpp op.cu more.cu op.h
  )
    file(WRITE "${case_DIR}/src/${file}" "// ${file}\n")
  endforeach()
endfunction()

# project_says(<code> [BEFORE <code>]): the project that the next configure reads. BEFORE stands before
# find_package(CudaTorchMatch); "" for it leaves that call in.
function(project_says code)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NO_MATCH" "BEFORE;LANGUAGES" "")
  set(match "find_package(CudaTorchMatch)")
  if(arg_NO_MATCH)
    set(match "")
  endif()
  if(NOT arg_LANGUAGES)
    set(arg_LANGUAGES CXX)
  endif()
  file(WRITE "${case_DIR}/src/before.cmake" "${arg_BEFORE}\n")
  file(WRITE "${case_DIR}/src/calls.cmake" "${code}\n")
  case_project(
    LANGUAGES ${arg_LANGUAGES}
    PRELUDE "${case_PRELUDE}\n${commands_HEAD}\nenable_testing()"
    BODY "include(before.cmake)\n${match}\ninclude(calls.cmake)"
  )
endfunction()

# configure(<code> [BEFORE <code>] [LANGUAGES <languages>] [NO_MATCH] [ARGS <argument>...])
function(configure code)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NO_MATCH" "BEFORE;LANGUAGES" "ARGS")
  set(rest "")
  if(arg_NO_MATCH)
    list(APPEND rest NO_MATCH)
  endif()
  project_says("${code}" BEFORE "${arg_BEFORE}" LANGUAGES "${arg_LANGUAGES}" ${rest})
  case_configure(ARGS ${arg_ARGS})
  set(case_STEP_STDOUT "${case_STEP_STDOUT}" PARENT_SCOPE)
  set(case_STEP_STDERR "${case_STEP_STDERR}" PARENT_SCOPE)
endfunction()

# misuse(<code> <text> [BEFORE <code>] [LANGUAGES <languages>] [NO_MATCH] [ARGS <argument>...])
#
# <code> ends the configure step, with exit code 1, and <text> is all that is said: literally, with blanks and line ends
# counting as one blank, <case> and <repo> for the places, … for anything without a blank, and <usage> for
# commands_USAGE, the command's own, which one case shows in full.
function(misuse code text)
  cmake_parse_arguments(PARSE_ARGV 2 arg "NO_MATCH" "BEFORE;LANGUAGES" "ARGS")
  set(rest "")
  if(arg_NO_MATCH)
    list(APPEND rest NO_MATCH)
  endif()
  project_says("${code}" BEFORE "${arg_BEFORE}" LANGUAGES "${arg_LANGUAGES}" ${rest})
  case_configure(RESULT 1 ARGS ${arg_ARGS})
  # What was said is compared here, not at the end of the case, and each call for itself.
  set_property(GLOBAL PROPERTY case_STDERR "")
  set_property(GLOBAL PROPERTY case_OVER "")
  set(said "${case_STEP_STDERR}")
  _case_normalise(said)
  string(REGEX REPLACE "^CMake Error at <repo>/cmake/detail/message\\.cmake:[0-9]+ \\(message\\): " "" said "${said}")
  string(REPLACE "${commands_USAGE}" "<usage>" said "${said}")
  string(STRIP "${text}" text)
  string(REGEX REPLACE "[ \t\r\n]+" " " text "${text}")
  string(REGEX REPLACE "([][.*+?^$(){}|\\])" "\\\\\\1" regex "${text}")
  string(REPLACE "…" "[^ ]*" regex "${regex}")
  if(NOT said MATCHES "^${regex}$")
    case_fail("the text of the refusal" "of:" "${code}" "expected:" "${text}" "actual:" "${said}")
  endif()
endfunction()

# expect_op(<name> <member> <value>...): of a row of the report's ops; expect_kernels() of its kernels.
function(expect_op name)
  _expect_row(ops "${name}" ${ARGN})
endfunction()

function(expect_kernels name)
  _expect_row(kernels "${name}" ${ARGN})
endfunction()

function(_expect_row list name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "")
  case_report(rows ${list})
  set(row "")
  string(JSON count ERROR_VARIABLE error LENGTH "${rows}")
  if(count GREATER 0)
    math(EXPR last "${count} - 1")
    foreach(i RANGE ${last})
      string(JSON value GET "${rows}" ${i} name)
      if(value STREQUAL name)
        string(JSON row GET "${rows}" ${i})
      endif()
    endforeach()
  endif()
  if(row STREQUAL "")
    case_fail("cudaops-report.json: no ${name} among ${list}" "${rows}")
    return()
  endif()
  math(EXPR last "${ARGC} - 1")
  foreach(i RANGE 2 ${last} 2)
    math(EXPR j "${i} + 1")
    string(JSON value ERROR_VARIABLE error GET "${row}" "${ARGV${i}}")
    string(REGEX REPLACE "[][\" \n]" "" flat "${value}")
    if("${ARGV${i}}" STREQUAL "architectures")
      set(value "${flat}")
    endif()
    case_equal("${name}.${ARGV${i}} of cudaops-report.json" "${value}" "${ARGV${j}}")
  endforeach()
endfunction()

# expect_stdout(<regex>...) and refuse_stdout(): of the last step; expect_stderr() too, which then counts as planned.
function(expect_stdout)
  math(EXPR last "${ARGC} - 1")
  foreach(i RANGE ${last})
    case_match("stdout" "${case_STEP_STDOUT}" "${ARGV${i}}")
  endforeach()
endfunction()

function(refuse_stdout)
  math(EXPR last "${ARGC} - 1")
  foreach(i RANGE ${last})
    case_not_match("stdout" "${case_STEP_STDOUT}" "${ARGV${i}}")
  endforeach()
endfunction()

function(expect_stderr)
  math(EXPR last "${ARGC} - 1")
  foreach(i RANGE ${last})
    case_match("stderr" "${case_STEP_STDERR}" "${ARGV${i}}")
  endforeach()
  set_property(GLOBAL PROPERTY case_STDERR "")
endfunction()
