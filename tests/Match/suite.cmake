# What find_package(CudaTorchMatch) finds and says on machines of every kind. A case lays down a machine (fakes/) in
# <case>-steps.cmake, calls match(), and states what must come out with expect_match().

# No toolkit of the machine that runs the tests: /usr/local is left out, PATH holds build tools only.
set(match_HEAD "set(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH OFF)")

# match([FIND <argument>...] [BEFORE <code>] [AFTER <code>] [LANGUAGES <language>...] [RESULT <n>] [NO_SEED]
#       [ARGS <argument>...])
#
# Configures a project with one find_package(CudaTorchMatch <FIND, default REQUIRED>). Called again, it configures the
# same build directory again.
function(match)
  cmake_parse_arguments(PARSE_ARGV 0 arg "NO_SEED" "BEFORE;AFTER;RESULT" "FIND;LANGUAGES;ARGS")
  if(NOT DEFINED arg_FIND)
    set(arg_FIND REQUIRED)
  endif()
  if(NOT DEFINED arg_LANGUAGES)
    set(arg_LANGUAGES CXX)
  endif()
  list(JOIN arg_FIND " " find)
  string(
    CONCAT body
    "${arg_BEFORE}\nfind_package(CudaTorchMatch ${find})\n"
    "include([==[${case_SUITE}/results.txt]==])\n${arg_AFTER}\n"
  )
  set(seed "")
  if(arg_NO_SEED)
    set(seed NO_SEED)
  endif()
  case_project(${seed} LANGUAGES ${arg_LANGUAGES} PRELUDE "${case_PRELUDE}\n${match_HEAD}" BODY "${body}")
  set(options "")
  if(DEFINED arg_RESULT)
    list(APPEND options RESULT ${arg_RESULT})
  endif()
  file(REMOVE "${case_DIR}/results.txt")
  case_configure(${options} ARGS ${arg_ARGS})
  set(case_STEP_STDOUT "${case_STEP_STDOUT}" PARENT_SCOPE)
  set(case_STEP_STDERR "${case_STEP_STDERR}" PARENT_SCOPE)
endfunction()

# expect_match(<result variable without prefix> <value> ...): of the result variables, and the report agrees.
function(expect_match)
  if(NOT EXISTS "${case_DIR}/results.txt")
    case_fail("find_package(CudaTorchMatch) did not return")
    return()
  endif()
  file(READ "${case_DIR}/results.txt" results)
  math(EXPR last "${ARGC} - 1")
  foreach(i RANGE 0 ${last} 2)
    math(EXPR j "${i} + 1")
    set(name "${ARGV${i}}")
    set(value "${ARGV${j}}")
    set(actual "<unset>")
    if("\n${results}" MATCHES "\n${name}=([^\n]*)\n")
      set(actual "${CMAKE_MATCH_1}")
    endif()
    case_equal("CudaTorchMatch_${name}" "${actual}" "${value}")
    set(member "")
    if(name STREQUAL "VERDICT")
      set(member verdict)
    elseif(name STREQUAL "REASON_CODE")
      set(member reason_code)
    elseif(name STREQUAL "REASON")
      set(member reason)
    elseif(name STREQUAL "TORCH_VERSION")
      set(member torch version)
    elseif(name STREQUAL "TOOLKIT_VERSION" AND NOT value STREQUAL "")
      set(member toolkit version)
    elseif(name STREQUAL "NVCC" AND NOT value STREQUAL "")
      set(member toolkit nvcc)
    endif()
    if(member)
      case_report_equal("${value}" ${member})
    endif()
  endforeach()
endfunction()

# expect_candidate(<index> <version> <source> <verdict> [<regex of problem>]): a row of the report.
function(expect_candidate index version source verdict)
  case_report_equal("${version}" candidates ${index} version)
  case_report_equal("${source}" candidates ${index} source)
  case_report_equal("${verdict}" candidates ${index} verdict)
  case_report(problem candidates ${index} problem)
  if(ARGC GREATER 4)
    case_match("candidate ${index}: problem" "${problem}" "${ARGV4}")
  else()
    case_equal("candidate ${index}: problem" "${problem}" "")
  endif()
endfunction()

# expect_stdout(<regex>...) and refuse_stdout(): of the last step.
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
