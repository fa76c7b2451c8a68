# SPDX-License-Identifier: Apache-2.0
# For cases that are scripts: comparisons that name what differs, and the lists of real releases.

cmake_minimum_required(VERSION 3.25)

cmake_path(SET check_CMAKE_DIR NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../../../cmake")
include("${check_CMAKE_DIR}/detail/base/use.cmake")

# What nvcc of these releases builds.
set(
  check_11_8
  35
  37
  50
  52
  53
  60
  61
  62
  70
  72
  75
  80
  86
  87
  89
  90
)
set(
  check_12_6
  50
  52
  53
  60
  61
  62
  70
  72
  75
  80
  86
  87
  89
  90
  90a
)
set(
  check_12_8
  50
  52
  53
  60
  61
  62
  70
  72
  75
  80
  86
  87
  89
  90
  90a
  100
  100a
  101
  101a
  120
  120a
)
set(
  check_12_9
  50
  52
  53
  60
  61
  62
  70
  72
  75
  80
  86
  87
  89
  90
  90a
  100
  100a
  100f
  101
  101a
  101f
  103
  103a
  103f
  120
  120a
  120f
  121
  121a
  121f
)
set(
  check_13_0
  75
  80
  86
  87
  88
  89
  90
  90a
  100
  100a
  100f
  103
  103a
  103f
  110
  110a
  110f
  120
  120a
  120f
  121
  121a
  121f
)

# check_equal(<what> <actual> <expected>): all differences of a case are shown, not only the first.
function(check_equal what actual expected)
  if(NOT "${actual}" STREQUAL "${expected}")
    message(SEND_ERROR "${what}\n  expected [${expected}]\n  actual   [${actual}]")
  endif()
endfunction()
