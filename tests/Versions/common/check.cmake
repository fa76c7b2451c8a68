# SPDX-License-Identifier: Apache-2.0
# For cases that are scripts: comparisons that name what differs, and random inputs that can be made again.

cmake_minimum_required(VERSION 3.25)

include("${CMAKE_CURRENT_LIST_DIR}/../../../cmake/detail/base/use.cmake")

# check_equal(<what> <actual> <expected>): all differences of a case are shown, not only the first.
function(check_equal what actual expected)
  if(NOT "${actual}" STREQUAL "${expected}")
    message(SEND_ERROR "${what}\n  expected [${expected}]\n  actual   [${actual}]")
  endif()
endfunction()

# check_match(<what> <actual> <regex>)
function(check_match what actual regex)
  if(NOT "${actual}" MATCHES "${regex}")
    message(SEND_ERROR "${what}\n  expected a match of [${regex}]\n  actual [${actual}]")
  endif()
endfunction()

# check_input(<text>): says which input comes next, with -Dcheck_TRACE=ON (see generated.cmake).
function(check_input text)
  if(check_TRACE)
    string(REPLACE "\n" "<LF>" text "${text}")
    message(STATUS "${text}")
  endif()
endfunction()

# check_seed(<n>): what follows is the same on every run. -Dcheck_SEED=<n> and -Dcheck_COUNT=<n> try others.
function(check_seed seed)
  if(DEFINED check_SEED)
    set(seed "${check_SEED}")
  endif()
  string(RANDOM LENGTH 1 RANDOM_SEED ${seed} ignored)
  message(STATUS "seed ${seed}")
endfunction()
