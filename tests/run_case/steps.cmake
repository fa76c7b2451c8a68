# SPDX-License-Identifier: Apache-2.0
# The steps of a case: configure, build, test, any command. Part of RunCase.cmake.

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

# The arguments of the function that calls this: arg_BUILD_DIR, arg_ARGS, and for case_step() `result`.
macro(_case_build_arguments)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "RESULT;BUILD_DIR" "ARGS")
  if(NOT arg_BUILD_DIR)
    set(arg_BUILD_DIR "${case_BUILD_DIR}")
  endif()
  set(result "")
  if(DEFINED arg_RESULT)
    set(result RESULT ${arg_RESULT})
  endif()
endmacro()

# case_build([RESULT <n>] [BUILD_DIR <dir>] [ARGS <arg>...])
function(case_build)
  _case_build_arguments()
  case_step(build ${result} COMMAND "${case_CMAKE}" --build "${arg_BUILD_DIR}" ${arg_ARGS})
  set(case_STEP_STDOUT "${case_STEP_STDOUT}" PARENT_SCOPE)
  set(case_STEP_STDERR "${case_STEP_STDERR}" PARENT_SCOPE)
endfunction()

# case_ctest([RESULT <n>] [BUILD_DIR <dir>] [ARGS <arg>...])
function(case_ctest)
  _case_build_arguments()
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
