# SPDX-License-Identifier: Apache-2.0
# What a case checks, and how it fails or is skipped. Part of RunCase.cmake.

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
