# SPDX-License-Identifier: Apache-2.0
# Runs one case of a suite and compares what it said with what is expected.
#
# A suite is a folder tests/<Suite>, declared with cudaops_add_case_suite(). Files of a case:
#   <case>.cmake         a script (cmake -P; it sees case_REPO, case_DIR, case_SUITE, case_PYTHON, case_LONG), or in a
#                        PROJECT suite the body of a project: included after project(), CXX on, and
#                        find_package(CudaOps)
#   <case>-steps.cmake   in its place or beside it: what is done, in steps. Runs here, before anything is configured, so
#                        it can lay down a machine first: fake_toolkit(), fake_torch(), fake_python(), fake_gnu()
#   <case>-result.txt    exit code of the last step; default 0
#   <case>-stdout.txt    regular expression that the steps' stdout matches somewhere; default: anything
#   <case>-stderr.txt    regular expression for all of their stderr; default: nothing may be there
#   <case>-check.cmake   afterwards: case_BUILD_DIR, case_STDOUT, case_STDERR, case_RESULT
#   suite.cmake          before each case of the suite: functions of its own, other values of case_LANGUAGES (default
#                        CXX), case_PRELUDE (default find_package(CudaOps REQUIRED)), case_ARGS (for each configure)
#   body.cmake           the body of the PROJECT cases that have none
#
# In expected texts all blanks and line ends count as one blank, because CMake wraps messages at a width that depends on
# the lengths of paths, and call stacks are left out. Wherever a text is matched, the places that differ from machine to
# machine have names: <case>, the case's directory; <tree>, the build directory of all tests; <repo>, the checkout. So a
# word that is looked for is never found in the name of a directory, and no character of a path is one of a regular
# expression: ${case_DIR}, ${case_TREE_DIR} and ${case_REPO} in an expectation stand for these names, too.
#
# The commands of a case, by topic in run_case/:
# Steps:   case_project() case_configure() case_build() case_ctest() case_step(); each sets case_STEP_STDOUT, _STDERR
# Machine: case_environment() case_path() case_keep_environment() case_use_compiler_cache(); the fakes
# Checks:  case_equal() case_match() case_not_match() case_report() case_report_equal() case_fail()
# And:     case_skip(). Each is described at its function. What a failed case leaves behind can be run again by hand.
#
# A case that passed is not run again while nothing that it depends on has changed: the package, the kernels, the
# examples, this file and the fakes, its own suite, its settings, and the compilers, the torch and the tools in use.
# CUDAOPS_TEST_AGAIN=1 in the environment runs it all the same. CUDAOPS_TEST_LONG=1 runs the whole of the proofs that
# take many minutes (case_LONG), of which a suite runs a part otherwise.
#
# The tests call it so:
#   cmake -Dcase_SETTINGS=<file> -Dcase_SUITE=<dir> -Dcase_NAME=<case> -Dcase_KIND=SCRIPT|PROJECT -Dcase_DIR=<dir>
#         -Dcase_CMAKE=<cmake> -Dcase_GENERATOR=<generator> [-Dcase_<NAME>=<value>...] -P RunCase.cmake

cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/run_case/environment.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/run_case/checks.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/run_case/texts.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/run_case/steps.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/run_case/inputs.cmake")

# _case_run(<out-var>): runs the case from an empty directory; TRUE where it passed, FALSE where it was skipped. Variables that
# a case sets, such as another case_GENERATOR, end with this function.
function(_case_run out)
  set(${out} FALSE PARENT_SCOPE)
  file(REMOVE_RECURSE "${case_DIR}")
  file(MAKE_DIRECTORY "${case_DIR}/home")
  set(case_PROJECT_DIR "${case_DIR}/src")
  set(case_BUILD_DIR "${case_DIR}/build")
  string(MAKE_C_IDENTIFIER "${case_NAME}" case_PROJECT_NAME)
  set(case_LANGUAGES CXX)
  set(case_PRELUDE "find_package(CudaOps REQUIRED)")
  set(case_ARGS "")
  case_environment(
    "PATH=${case_TOOLS_DIR}"
    # By its own path: CMake 3.25 can't link CUDA with a compiler whose path holds a blank, as our links' may.
    "CXX=${case_CXX}"
    "HOME=${case_DIR}/home"
    "LC_ALL=C"
    "CUDAOPS_STORE=${case_DIR}/store"
    # 60 MB in each of these stores; the cases about it say ON.
    CUDAOPS_PRECOMPILE=OFF
    # Several cases run at once; ninja alone would take every core for each.
    CMAKE_BUILD_PARALLEL_LEVEL=2
  )
  # The program that runs compiles, as the fixture tests.seed has built it.
  if(EXISTS "${case_SEED_DIR}/store/launch")
    file(COPY "${case_SEED_DIR}/store/launch" DESTINATION "${case_DIR}/store")
  endif()
  # nvcc can't work in a TMPDIR with a blank.
  if(NOT case_DIR MATCHES " ")
    case_environment("TMPDIR=${case_DIR}")
  endif()
  # Fakes know where to put themselves.
  include("${case_TESTS_DIR}/fakes/fakes.cmake")

  if(NOT EXISTS "${case_CMAKE}")
    case_skip("no CMake at ${case_CMAKE} (tests.tools fetches it)")
    return()
  endif()
  include("${case_SUITE}/suite.cmake" OPTIONAL)
  get_property(skipped GLOBAL PROPERTY case_SKIPPED)
  if(skipped)
    return()
  elseif(EXISTS "${case_SUITE}/${case_NAME}-steps.cmake")
    include("${case_SUITE}/${case_NAME}-steps.cmake")
  elseif(case_KIND STREQUAL "PROJECT")
    case_configure()
  else()
    case_step(
      script
      COMMAND
        "${case_CMAKE}" "-Dcase_REPO=${case_REPO}" "-Dcase_DIR=${case_DIR}" "-Dcase_SUITE=${case_SUITE}"
        "-Dcase_PYTHON=${case_PYTHON}" "-Dcase_LONG=${case_LONG}" -P "${case_SUITE}/${case_NAME}.cmake"
    )
  endif()

  get_property(skipped GLOBAL PROPERTY case_SKIPPED)
  if(skipped)
    return()
  endif()
  foreach(name STDOUT STDERR RESULT)
    get_property(case_${name} GLOBAL PROPERTY case_${name})
  endforeach()
  if("${case_RESULT}" STREQUAL "")
    case_fail("The case ran no step, so it proves nothing.")
  endif()
  set(expected 0)
  if(EXISTS "${case_SUITE}/${case_NAME}-result.txt")
    file(READ "${case_SUITE}/${case_NAME}-result.txt" expected)
    string(STRIP "${expected}" expected)
  endif()
  case_equal("exit code" "${case_RESULT}" "${expected}")
  _case_expect(stdout "${case_STDOUT}")
  _case_expect(stderr "${case_STDERR}")
  if(EXISTS "${case_SUITE}/${case_NAME}-check.cmake")
    include("${case_SUITE}/${case_NAME}-check.cmake")
  endif()

  get_property(failures GLOBAL PROPERTY case_FAILURES)
  if(NOT "${failures}" STREQUAL "")
    get_property(rerun GLOBAL PROPERTY case_RERUN)
    string(APPEND failures "stdout:\n${case_STDOUT}\nstderr:\n${case_STDERR}\nRun again by hand:\n${rerun}")
    # Not FATAL_ERROR alone: message() would wrap the text. From a file: an argument has room for 128 kB.
    file(WRITE "${case_DIR}/failures.txt" "FAILED ${case_NAME}\n${failures}\n")
    execute_process(COMMAND "${CMAKE_COMMAND}" -E cat "${case_DIR}/failures.txt")
    message(FATAL_ERROR "${case_NAME} failed")
  endif()
  set(${out} TRUE PARENT_SCOPE)
endfunction()

function(_case_main)
  set(case_LONG FALSE)
  if("$ENV{CUDAOPS_TEST_LONG}")
    set(case_LONG TRUE)
  endif()
  # The record of the last pass stands beside the directory, and is removed first of all: it returns with a pass only.
  set(record "${case_DIR}.passed")
  _case_inputs(inputs)
  if(EXISTS "${record}" AND IS_DIRECTORY "${case_DIR}" AND "$ENV{CUDAOPS_TEST_AGAIN}" STREQUAL "")
    file(READ "${record}" passed)
    if(passed STREQUAL inputs)
      message("Passed before, and nothing that it depends on has changed; CUDAOPS_TEST_AGAIN=1 runs it again.")
      return()
    endif()
  endif()
  file(REMOVE "${record}")
  _case_run(passed)
  if(NOT passed)
    return()
  endif()
  # What was changed while the case ran was not tested.
  _case_inputs(now)
  if(now STREQUAL inputs)
    file(WRITE "${record}" "${inputs}")
  endif()
endfunction()

include("${case_SETTINGS}")
_case_main()
