# SPDX-License-Identifier: Apache-2.0
# For <case>-steps.cmake of a case with generated inputs: 10^5 of them with the CMake that runs the tests, 5000 with the
# others, where only CMake's own differences can be new. An error of CMake's own ends the script without a word on the
# input that caused it, so the script is run again to show the last one.

set(count 100000)
if(NOT case_CMAKE STREQUAL CMAKE_COMMAND)
  set(count 5000)
endif()
set(script "${case_CMAKE}" -Dcheck_COUNT=${count} -P "${case_SUITE}/${case_NAME}.cmake")
case_step(script COMMAND ${script})
get_property(result GLOBAL PROPERTY case_RESULT)
if(NOT result STREQUAL "0" AND NOT case_STEP_STDERR MATCHES "input: ")
  list(INSERT script 1 -Dcheck_TRACE=ON)
  execute_process(COMMAND ${script} OUTPUT_VARIABLE output ERROR_VARIABLE error)
  string(REGEX MATCH "\n-- ([^\n]*)\n*$" last "${output}")
  case_fail("the input that ended in an error" "${CMAKE_MATCH_1}")
endif()
