# SPDX-License-Identifier: Apache-2.0
# Runs one case of a suite and compares what it said with what is expected.
#
# A suite is a folder tests/<Suite>, declared with cudaops_add_case_suite(). Files of a case:
#   <case>.cmake         a script (cmake -P; it sees case_REPO, case_DIR, case_SUITE, case_PYTHON), or in a PROJECT suite
#                        the body of a project: included after project(), CXX on, and find_package(CudaOps)
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
# Steps:   case_project() case_configure() case_build() case_ctest() case_step(); each sets case_STEP_STDOUT, _STDERR
# Machine: case_environment() case_path() case_keep_environment(); the fakes
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

# case_environment(<VAR>=<value>... [UNSET <VAR>...]): for the steps that follow. Nothing of the developer's own
# environment reaches a case, so that it says the same everywhere.
function(case_environment)
  # Not as a list: a value may hold semicolons and single brackets.
  get_property(names GLOBAL PROPERTY case_ENVIRONMENT)
  set(unset FALSE)
  math(EXPR last "${ARGC} - 1")
  foreach(i RANGE ${last})
    set(entry "${ARGV${i}}")
    if(entry STREQUAL "UNSET")
      set(unset TRUE)
    elseif(unset)
      list(REMOVE_ITEM names "${entry}")
    else()
      string(FIND "${entry}" "=" position)
      string(SUBSTRING "${entry}" 0 ${position} name)
      math(EXPR position "${position} + 1")
      string(SUBSTRING "${entry}" ${position} -1 value)
      list(REMOVE_ITEM names "${name}")
      list(APPEND names "${name}")
      set_property(GLOBAL PROPERTY case_ENVIRONMENT_${name} "${value}")
    endif()
  endforeach()
  set_property(GLOBAL PROPERTY case_ENVIRONMENT ${names})
endfunction()

# case_keep_environment(<regex>): lets matching variables of the developer's environment through (proxies, package
# indexes), for cases that really need the network.
function(case_keep_environment regex)
  execute_process(COMMAND "${CMAKE_COMMAND}" -E environment OUTPUT_VARIABLE all)
  string(REGEX MATCHALL "(^|\n)[A-Za-z_0-9]+=" all "${all}")
  foreach(name IN LISTS all)
    string(REGEX REPLACE "[\n=]" "" name "${name}")
    if(name MATCHES "${regex}")
      case_environment("${name}=$ENV{${name}}")
    endif()
  endforeach()
endfunction()

# case_path(<dir>...): puts directories before the PATH of the steps that follow.
function(case_path)
  list(JOIN ARGV ":" front)
  get_property(old GLOBAL PROPERTY case_ENVIRONMENT_PATH)
  case_environment("PATH=${front}:${old}")
endfunction()

# case_fail(<what> [<detail>...]): notes a failure; the case goes on, so that all of them are shown at once.
function(case_fail what)
  set(report "* ${what}\n")
  math(EXPR last "${ARGC} - 1")
  if(last GREATER 0)
    foreach(i RANGE 1 ${last})
      string(REPLACE "\n" "\n    " detail "${ARGV${i}}")
      string(APPEND report "    ${detail}\n")
    endforeach()
  endif()
  set_property(GLOBAL APPEND_STRING PROPERTY case_FAILURES "${report}")
endfunction()

# case_equal(<what> <actual> <expected>)
function(case_equal what actual expected)
  if(NOT "${actual}" STREQUAL "${expected}")
    case_fail("${what}" "expected [${expected}]" "actual   [${actual}]")
  endif()
endfunction()

# case_match(<what> <text> <regex>) and case_not_match(): blanks and line ends count as one blank, and places have names,
# as everywhere here.
function(case_match what text regex)
  _case_squeeze(text)
  case_name_places(text)
  case_name_places(regex)
  if(NOT text MATCHES "${regex}")
    case_fail("${what}" "expected a match of [${regex}]" "actual [${text}]")
  endif()
endfunction()

function(case_not_match what text regex)
  _case_squeeze(text)
  case_name_places(text)
  case_name_places(regex)
  if(text MATCHES "${regex}")
    case_fail("${what}" "expected no match of [${regex}]" "found [${CMAKE_MATCH_0}]")
  endif()
endfunction()

# case_report(<out-var> <member>...): a value of the build tree's cudaops-report.json; <out-var> is "<missing>" where
# there is none.
function(case_report out)
  set(file "${case_BUILD_DIR}/cudaops-report.json")
  set(value "<missing>")
  if(EXISTS "${file}")
    file(READ "${file}" text)
    string(JSON value ERROR_VARIABLE error GET "${text}" ${ARGN})
    if(error)
      set(value "<missing>")
    endif()
  endif()
  set(${out} "${value}" PARENT_SCOPE)
endfunction()

# case_report_equal(<expected> <member>...)
function(case_report_equal expected)
  case_report(actual ${ARGN})
  list(JOIN ARGN "." member)
  case_equal("cudaops-report.json: ${member}" "${actual}" "${expected}")
endfunction()

# case_skip(<reason>): the case counts as skipped; no step runs after it. return() follows it where the rest of the file
# needs what isn't there.
function(case_skip reason)
  # The exact words that the tests' SKIP_REGULAR_EXPRESSION looks for; a script can't choose its exit code in 3.25.
  message("CASE SKIPPED: ${reason}")
  set_property(GLOBAL PROPERTY case_SKIPPED 1)
endfunction()

# case_step(<name> [RESULT <n>] [WORKING_DIRECTORY <dir>] COMMAND <arg>...): runs a command in the case's environment.
# A step that fails ends the sequence, unless RESULT says that it must end with that very code.
function(case_step name_of_step)
  get_property(over GLOBAL PROPERTY case_OVER)
  get_property(skipped GLOBAL PROPERTY case_SKIPPED)
  if(over OR skipped)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "RESULT;WORKING_DIRECTORY" "COMMAND")
  if(NOT arg_WORKING_DIRECTORY)
    set(arg_WORKING_DIRECTORY "${case_DIR}")
  endif()
  # A script, so that the step can be run again by hand exactly as it ran.
  set(script "#!/bin/sh\ncd ")
  _case_quote(word "${arg_WORKING_DIRECTORY}")
  string(APPEND script "${word} || exit\nexec env -i")
  get_property(names GLOBAL PROPERTY case_ENVIRONMENT)
  foreach(name IN LISTS names)
    get_property(value GLOBAL PROPERTY case_ENVIRONMENT_${name})
    _case_quote(word "${value}")
    string(APPEND script " \\\n  ${name}=${word}")
  endforeach()
  string(APPEND script " \\\n ")
  foreach(word IN LISTS arg_COMMAND)
    _case_quote(word "${word}")
    string(APPEND script " ${word}")
  endforeach()
  get_property(number GLOBAL PROPERTY case_STEPS)
  math(EXPR number "0${number} + 1")
  set_property(GLOBAL PROPERTY case_STEPS ${number})
  file(WRITE "${case_DIR}/step-${number}.sh" "${script}\n")
  _case_quote(script "${case_DIR}/step-${number}.sh")
  set_property(GLOBAL APPEND_STRING PROPERTY case_RERUN "  sh ${script}   # ${name_of_step}\n")
  execute_process(
    COMMAND sh "${case_DIR}/step-${number}.sh"
    RESULT_VARIABLE result
    OUTPUT_VARIABLE output
    ERROR_VARIABLE error
  )
  set_property(GLOBAL APPEND_STRING PROPERTY case_STDOUT "${output}")
  set_property(GLOBAL APPEND_STRING PROPERTY case_STDERR "${error}")
  set_property(GLOBAL PROPERTY case_RESULT "${result}")
  # The output of the last step alone, for checks between steps.
  set(case_STEP_STDOUT "${output}" PARENT_SCOPE)
  set(case_STEP_STDERR "${error}" PARENT_SCOPE)
  if(DEFINED arg_RESULT)
    if(NOT result STREQUAL arg_RESULT)
      case_fail("Step ${name_of_step}: exit code" "expected [${arg_RESULT}]" "actual   [${result}]")
      set_property(GLOBAL PROPERTY case_OVER 1)
    else()
      set_property(GLOBAL PROPERTY case_RESULT 0)
    endif()
  elseif(NOT result STREQUAL "0")
    set_property(GLOBAL PROPERTY case_OVER 1)
  endif()
endfunction()

# case_project([LANGUAGES <lang>...] [PRELUDE <text>] [BODY <text>] [NO_SEED]): writes the project of the case. Called by
# case_configure() where a case has not called it. The body is <case>.cmake, or the suite's body.cmake, or BODY.
#
# The first configure starts from the compiler detection of the fixture tests.seed, which saves a third of a second.
# NO_SEED where the compiler is another one.
function(case_project)
  cmake_parse_arguments(PARSE_ARGV 0 arg "NO_SEED" "PRELUDE;BODY" "LANGUAGES")
  if(NOT DEFINED arg_LANGUAGES)
    set(arg_LANGUAGES ${case_LANGUAGES})
  endif()
  if(NOT DEFINED arg_PRELUDE)
    set(arg_PRELUDE "${case_PRELUDE}")
  endif()
  if(NOT DEFINED arg_BODY)
    if(EXISTS "${case_SUITE}/${case_NAME}.cmake")
      set(arg_BODY "include([==[${case_SUITE}/${case_NAME}.cmake]==])")
    else()
      set(arg_BODY "include([==[${case_SUITE}/body.cmake]==])")
    endif()
  endif()
  list(JOIN arg_LANGUAGES " " languages)
  set(seed "")
  if(NOT arg_NO_SEED AND NOT case_NO_SEED)
    # CMake empties CMakeFiles/ when it starts without a cache, so the seed is laid down from within.
    set(seed "include([==[${case_TESTS_DIR}/fixtures/use_seed.txt]==])\n")
  endif()
  string(
    CONCAT text
    "cmake_minimum_required(VERSION 3.25)\n"
    "set(CudaOps_ROOT [==[${case_REPO}]==])\n"
    "set(case_SUITE [==[${case_SUITE}]==])\n"
    "set(case_DIR [==[${case_DIR}]==])\n"
    "set(case_SEED_DIR [==[${case_SEED_DIR}]==])\n"
    "${seed}"
    "project(${case_PROJECT_NAME} LANGUAGES ${languages})\n"
    "${arg_PRELUDE}\n"
    "${arg_BODY}\n"
  )
  file(CONFIGURE OUTPUT "${case_PROJECT_DIR}/CMakeLists.txt" CONTENT "${text}" @ONLY)
endfunction()

# case_configure([RESULT <n>] [ARGS <arg>...] [SOURCE_DIR <dir>] [BUILD_DIR <dir>])
function(case_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "RESULT;SOURCE_DIR;BUILD_DIR" "ARGS")
  if(NOT arg_SOURCE_DIR)
    set(arg_SOURCE_DIR "${case_PROJECT_DIR}")
    if(NOT EXISTS "${arg_SOURCE_DIR}/CMakeLists.txt")
      case_project()
    endif()
  endif()
  if(NOT arg_BUILD_DIR)
    set(arg_BUILD_DIR "${case_BUILD_DIR}")
  endif()
  set(result "")
  if(DEFINED arg_RESULT)
    set(result RESULT ${arg_RESULT})
  endif()
  list(APPEND arg_ARGS ${case_ARGS})
  if(case_GENERATOR MATCHES "Makefiles")
    # By its own path: make calls itself by $(MAKE), which no Makefile quotes.
    find_program(make make NO_CACHE)
    list(APPEND arg_ARGS "-DCMAKE_MAKE_PROGRAM=${make}")
  endif()
  case_step(
    configure
    ${result}
    COMMAND "${case_CMAKE}" -S "${arg_SOURCE_DIR}" -B "${arg_BUILD_DIR}" -G "${case_GENERATOR}" ${arg_ARGS}
  )
  set(case_STEP_STDOUT "${case_STEP_STDOUT}" PARENT_SCOPE)
  set(case_STEP_STDERR "${case_STEP_STDERR}" PARENT_SCOPE)
endfunction()

# case_build([RESULT <n>] [BUILD_DIR <dir>] [ARGS <arg>...])
function(case_build)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "RESULT;BUILD_DIR" "ARGS")
  if(NOT arg_BUILD_DIR)
    set(arg_BUILD_DIR "${case_BUILD_DIR}")
  endif()
  set(result "")
  if(DEFINED arg_RESULT)
    set(result RESULT ${arg_RESULT})
  endif()
  case_step(build ${result} COMMAND "${case_CMAKE}" --build "${arg_BUILD_DIR}" ${arg_ARGS})
  set(case_STEP_STDOUT "${case_STEP_STDOUT}" PARENT_SCOPE)
  set(case_STEP_STDERR "${case_STEP_STDERR}" PARENT_SCOPE)
endfunction()

# case_ctest([RESULT <n>] [BUILD_DIR <dir>] [ARGS <arg>...])
function(case_ctest)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "RESULT;BUILD_DIR" "ARGS")
  if(NOT arg_BUILD_DIR)
    set(arg_BUILD_DIR "${case_BUILD_DIR}")
  endif()
  set(result "")
  if(DEFINED arg_RESULT)
    set(result RESULT ${arg_RESULT})
  endif()
  cmake_path(GET case_CMAKE PARENT_PATH bin)
  case_step(
    ctest
    ${result}
    COMMAND "${bin}/ctest" --test-dir "${arg_BUILD_DIR}" --no-tests=error --output-on-failure ${arg_ARGS}
  )
  set(case_STEP_STDOUT "${case_STEP_STDOUT}" PARENT_SCOPE)
  set(case_STEP_STDERR "${case_STEP_STDERR}" PARENT_SCOPE)
endfunction()

# A word of a shell command.
function(_case_quote out word)
  if("${word}" MATCHES "[^-A-Za-z0-9_=/.,:+@%]" OR "${word}" STREQUAL "")
    string(REPLACE "'" "'\\''" word "${word}")
    set(word "'${word}'")
  endif()
  set(${out} "${word}" PARENT_SCOPE)
endfunction()

# CMake wraps a message at a width that depends on the lengths of paths, so all blanks count as one.
function(_case_squeeze name)
  string(REGEX REPLACE "[ \t\r\n]+" " " text "${${name}}")
  string(STRIP "${text}" text)
  set(${name} "${text}" PARENT_SCOPE)
endfunction()

# case_name_places(<variable>): its text with <case>, <tree> and <repo> for the places that differ from machine to machine.
# For a text that is looked through by other means than case_match().
function(case_name_places name)
  set(text "${${name}}")
  string(ASCII 1 here)
  string(ASCII 2 option)
  foreach(place IN ITEMS case|DIR tree|TREE_DIR repo|REPO)
    string(REGEX MATCH "^(.*)\\|(.*)$" place "${place}")
    set(place "<${CMAKE_MATCH_1}>")
    set(path "${case_${CMAKE_MATCH_2}}")
    if(path STREQUAL "")
      continue()
    endif()
    # A link on the way is followed by some programs.
    file(REAL_PATH "${path}" real)
    set(spellings "${path}" "${real}")
    list(REMOVE_DUPLICATES spellings)
    foreach(spelling IN LISTS spellings)
      string(REPLACE "${spelling}" "${here}" text "${text}")
      _case_squeeze(spelling)
      string(REPLACE "${spelling}" "${here}" text "${text}")
      # Blanks as a shell, make and Ninja write them.
      if(spelling MATCHES " ")
        foreach(blank IN ITEMS "\\ " "$ ")
          string(REPLACE " " "${blank}" escaped "${spelling}")
          string(REPLACE "${escaped}" "${here}" text "${text}")
        endforeach()
      endif()
      # Neither the end of another path (<case>/src or ../src where the checkout is /src) nor the beginning of another name
      # (/srcs), but behind an option (-I/src).
      string(REGEX REPLACE "(^|[ \"'=,;(])(-[A-Za-z]+)${here}" "\\1\\2${option}" text "${text}")
      string(REGEX REPLACE "([A-Za-z0-9_>]|[.\\][.])${here}" "\\1${spelling}" text "${text}")
      string(REGEX REPLACE "${here}([A-Za-z0-9_])" "${spelling}\\1" text "${text}")
      string(REGEX REPLACE "[${here}${option}]" "${place}" text "${text}")
    endforeach()
  endforeach()
  set(${name} "${text}" PARENT_SCOPE)
endfunction()

# The text of a step as the expected texts see it.
function(_case_normalise name)
  set(text "${${name}}")
  string(REGEX REPLACE "Call Stack \\(most recent call first\\):\n(  [^\n]*\n)+" "" text "${text}")
  _case_squeeze(text)
  case_name_places(text)
  string(REPLACE "CMake Error at cmake/" "CMake Error at <repo>/cmake/" text "${text}")
  set(${name} "${text}" PARENT_SCOPE)
endfunction()

function(_case_expect name actual)
  set(file "${case_SUITE}/${case_NAME}-${name}.txt")
  if(EXISTS "${file}")
    file(READ "${file}" expected)
    _case_squeeze(expected)
  elseif(name STREQUAL "stderr")
    set(expected "")
  else()
    return()
  endif()
  set(shown "${actual}")
  _case_normalise(actual)
  # stderr is held whole: a warning that nobody planned fails the case.
  set(regex "${expected}")
  if(name STREQUAL "stderr")
    set(regex "^${expected}$")
  endif()
  if(NOT actual MATCHES "${regex}")
    string(REPLACE "${case_DIR}" "<case>" shown "${shown}")
    case_fail("${name} does not match" "expected:" "${regex}" "actual:" "${actual}" "in full:" "${shown}")
  endif()
endfunction()

# A text that is another one whenever something that the case depends on is.
function(_case_inputs out)
  set(key "")
  # Name, time and size of what is large; the content of what is ours, which a checkout gives a new time.
  set(large "${case_CMAKE}" "${case_CXX}" "${case_PYTHON}" "${CMAKE_COMMAND}")
  foreach(root IN LISTS case_TOOLKIT ITEMS /usr/local/cuda)
    list(APPEND large "${root}/bin/nvcc" "${root}/nvvm/bin/cicc" "${root}/include/cuda_runtime_api.h")
  endforeach()
  foreach(python IN LISTS case_TORCHES case_TORCH)
    cmake_path(GET python PARENT_PATH bin)
    file(GLOB found "${bin}/../lib/python3*/site-packages/torch/version.py")
    list(APPEND large "${python}" ${found})
  endforeach()
  file(GLOB programs LIST_DIRECTORIES false "${case_TOOLS_DIR}/*")
  foreach(file IN LISTS large programs)
    if(EXISTS "${file}" AND NOT IS_DIRECTORY "${file}")
      file(REAL_PATH "${file}" file)
      file(TIMESTAMP "${file}" time)
      file(SIZE "${file}" size)
      string(APPEND key "${file} ${time} ${size}\n")
    endif()
  endforeach()
  file(
    GLOB_RECURSE ours
    "${case_REPO}/cmake/*"
    "${case_REPO}/python/*"
    "${case_REPO}/kernels/*"
    "${case_REPO}/examples/*"
    "${case_TESTS_DIR}/fakes/*"
    "${case_TESTS_DIR}/fixtures/*"
    "${case_SUITE}/*"
  )
  foreach(
    file
    IN
    LISTS ours
    ITEMS
      "${case_SETTINGS}"
      "${case_REPO}/CMakeLists.txt"
      "${case_REPO}/pyproject.toml"
      "${case_REPO}/README.md"
      "${case_TESTS_DIR}/RunCase.cmake"
      "${case_TESTS_DIR}/requirements.txt"
  )
    if(NOT file MATCHES "/(__pycache__|build)/")
      file(SHA1 "${file}" hash)
      string(APPEND key "${file} ${hash}\n")
    endif()
  endforeach()
  foreach(
    name
    IN
    ITEMS SUITE NAME KIND CMAKE GENERATOR SEED_DIR TORCH LONG
  )
    string(APPEND key "${name}=${case_${name}}\n")
  endforeach()
  set(${out} "${key}" PARENT_SCOPE)
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
        "-Dcase_PYTHON=${case_PYTHON}" -P "${case_SUITE}/${case_NAME}.cmake"
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
  # What was changed while the case ran was not tested.
  _case_inputs(now)
  if(now STREQUAL inputs)
    file(WRITE "${record}" "${inputs}")
  endif()
endfunction()

include("${case_SETTINGS}")
_case_main()
