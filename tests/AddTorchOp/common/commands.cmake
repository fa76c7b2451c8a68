# SPDX-License-Identifier: Apache-2.0
# For the suites of the commands that make targets: machines, calls that must be refused, what became of a target.

# An empty value of a keyword is a value.
if(POLICY CMP0174)
  cmake_policy(SET CMP0174 NEW)
endif()

include("${case_TESTS_DIR}/fixtures/expect.cmake")

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
  file(WRITE "${case_PROJECT_DIR}/before.cmake" "${arg_BEFORE}\n")
  file(WRITE "${case_PROJECT_DIR}/calls.cmake" "${code}\n")
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
  string(
    REGEX REPLACE "^CMake Error at <repo>/cmake/detail/base/message\\.cmake:[0-9]+ \\(message\\): "
    ""
    said
    "${said}"
  )
  string(REPLACE "${commands_USAGE}" "<usage>" said "${said}")
  string(STRIP "${text}" text)
  string(REGEX REPLACE "[ \t\r\n]+" " " text "${text}")
  string(REGEX REPLACE "([][.*+?^$(){}|\\])" "\\\\\\1" regex "${text}")
  string(REPLACE "…" "[^ ]*" regex "${regex}")
  if(NOT said MATCHES "^${regex}$")
    case_fail("the text of the refusal" "of:" "${code}" "expected:" "${text}" "actual:" "${said}")
  endif()
endfunction()

# misuse_name(<command> <what> <rest>): calls without the first argument, which is <what>, with a keyword in its place, and
# with an empty one. <rest> is what a right call goes on with, and begins with a keyword.
function(misuse_name command what rest)
  string(REGEX MATCH "^[A-Z_]+" keyword "${rest}")
  foreach(call IN ITEMS "|" "${rest}|${keyword}" "\"\" ${rest}|")
    string(REGEX MATCH "^(.*)\\|(.*)$" call "${call}")
    misuse(
      "${command}(${CMAKE_MATCH_1})"
      "${command}(): the first argument is ${what}. found '${CMAKE_MATCH_2}' Fix: <usage>"
    )
  endforeach()
endfunction()

# _commands_torch_versions(<out> <python>): "<torch's version> <its CUDA version>", "" where it has no torch. From
# version.py where a venv has it: importing torch takes two seconds, and a case needs no more than the versions.
function(_commands_torch_versions out python)
  cmake_path(GET python PARENT_PATH bin)
  file(GLOB file "${bin}/../lib/python3*/site-packages/torch/version.py")
  set(about "")
  if(file)
    list(GET file 0 file)
    file(READ "${file}" text)
    if(text MATCHES "\n__version__ = '([^']+)'")
      set(about "${CMAKE_MATCH_1}")
      if(text MATCHES "\ncuda[^=\n]*= '([^']+)'")
        string(APPEND about " ${CMAKE_MATCH_1}")
      endif()
    endif()
  else()
    execute_process(
      COMMAND "${python}" -c "import torch; print(torch.__version__, torch.version.cuda)"
      OUTPUT_VARIABLE about
      ERROR_QUIET
      OUTPUT_STRIP_TRAILING_WHITESPACE
    )
  endif()
  set(${out} "${about}" PARENT_SCOPE)
endfunction()

# real_machine(): the toolkit that the tests were configured with and a real torch (the first of
# CUDAOPS_TEST_TORCHES); skips the case where there is none, or where the two don't fit. Then real_TOOLKIT,
# real_TORCH, real_TORCH_VERSION, real_TORCHES (all of them), and the sources of common/real in the project.
function(real_machine)
  set(toolkit "${case_TOOLKIT}")
  if(NOT EXISTS "${toolkit}/bin/nvcc")
    find_program(nvcc NAMES nvcc HINTS /usr/local/cuda/bin NO_CACHE)
    set(toolkit "")
    if(nvcc)
      file(REAL_PATH "${nvcc}" nvcc)
      cmake_path(GET nvcc PARENT_PATH toolkit)
      cmake_path(GET toolkit PARENT_PATH toolkit)
    endif()
  endif()
  set(release "")
  if(EXISTS "${toolkit}/bin/nvcc")
    execute_process(COMMAND "${toolkit}/bin/nvcc" --version OUTPUT_VARIABLE about ERROR_QUIET)
    string(REGEX MATCH "release ([0-9]+)\\.([0-9]+)" release "${about}")
    set(release "${CMAKE_MATCH_1}")
  endif()
  if(release STREQUAL "")
    case_skip("no CUDA toolkit on this machine")
    return()
  endif()
  set(torch "")
  foreach(python IN LISTS case_TORCHES)
    _commands_torch_versions(about "${python}")
    if(about MATCHES "^([0-9]+\\.[0-9]+)[^ ]* ${release}\\." AND CMAKE_MATCH_1 VERSION_GREATER_EQUAL 2.10)
      set(torch "${python}")
      set(real_TORCH_VERSION "${CMAKE_MATCH_1}" PARENT_SCOPE)
      break()
    endif()
  endforeach()
  if(torch STREQUAL "")
    case_skip("no torch for CUDA ${release} among CUDAOPS_TEST_TORCHES")
    return()
  endif()
  file(COPY "${case_TESTS_DIR}/AddTorchOp/common/real/" DESTINATION "${case_DIR}/src")
  case_use_detections()
  set(commands_HEAD "" PARENT_SCOPE)
  set(real_TOOLKIT "${toolkit}" PARENT_SCOPE)
  set(real_TORCH "${torch}" PARENT_SCOPE)
  set(real_TORCHES "${case_TORCHES}" PARENT_SCOPE)
  set(case_ARGS "-DPython_EXECUTABLE=${torch}" "-DCUDAToolkit_ROOT=${toolkit}" PARENT_SCOPE)
endfunction()

# use_linkers(<out>): those that a user may pick, as far as this machine has them, on the PATH of the steps that follow.
function(use_linkers out)
  file(MAKE_DIRECTORY "${case_DIR}/bin")
  set(linkers "")
  foreach(linker IN ITEMS gold lld mold)
    find_program(program ld.${linker} NO_CACHE)
    if(program)
      file(CREATE_LINK "${program}" "${case_DIR}/bin/ld.${linker}" SYMBOLIC)
      list(APPEND linkers ${linker})
    endif()
    unset(program)
  endforeach()
  case_path("${case_DIR}/bin")
  set(${out} "${linkers}" PARENT_SCOPE)
endfunction()

# need_python_headers(): skips the case on a machine without Python.h, which ABI PYBIND asks for.
function(need_python_headers)
  execute_process(
    COMMAND
      "${case_PYTHON}" -c
      "import os, sysconfig; print(os.path.isfile(os.path.join(sysconfig.get_path('include'), 'Python.h')), end='')"
    OUTPUT_VARIABLE there
  )
  if(NOT there STREQUAL "True")
    case_skip("no Python.h on this machine")
  endif()
endfunction()

# archs_on_compile_lines(<out>): of the last step's output, a build with --verbose.
function(archs_on_compile_lines out)
  string(REGEX MATCHALL "(compute|sm)_[0-9]+[af]?" archs "${case_STEP_STDOUT}")
  list(REMOVE_DUPLICATES archs)
  list(SORT archs)
  set(${out} "${archs}" PARENT_SCOPE)
endfunction()

# flags_of(<file> <out>): its compile line in the last step's output.
function(flags_of file out)
  string(REGEX MATCH "[^\n]* -c [^\n]*/${file}[^\n]*" line "${case_STEP_STDOUT}")
  if(line STREQUAL "")
    case_fail("no compile line of ${file}")
  endif()
  set(${out} "${line}" PARENT_SCOPE)
endfunction()
