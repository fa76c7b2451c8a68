# SPDX-License-Identifier: Apache-2.0
# For <case>-steps.cmake of a case with generated inputs: the first 10^4 of a fixed sequence with the CMake that runs
# the tests, 10^5 with case_LONG, 5000 with the other CMakes, where only CMake's own differences can be new. An error of
# CMake's own ends the script without naming the input that caused it, so the script is run again to show the last one.

set(count 10000)
if(NOT case_CMAKE STREQUAL CMAKE_COMMAND)
  set(count 5000)
elseif(case_LONG)
  set(count 100000)
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
