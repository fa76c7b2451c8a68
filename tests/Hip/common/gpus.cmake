# Names of AMD's GPUs from the kernel driver's numbers, and what a *_VISIBLE_DEVICES leaves of them.
include("${case_REPO}/cmake/detail/base/use.cmake")
_cudaops_use(facts/gpus)

function(expect what actual expected)
  if(NOT actual STREQUAL expected)
    message(FATAL_ERROR "${what}: expected [${expected}], got [${actual}]")
  endif()
endfunction()

foreach(
  pair
  IN
  ITEMS
    80003:gfx803
    90000:gfx900
    90006:gfx906
    90010:gfx90a
    90012:gfx90c
    90402:gfx942
    90500:gfx950
    100100:gfx1010
    100306:gfx1036
    110000:gfx1100
    110501:gfx1151
    120001:gfx1201
    0:
    9000:
    text:
)
  string(REPLACE ":" ";" pair "${pair}")
  list(GET pair 0 number)
  list(GET pair 1 wanted)
  _cudaops_gfx_name("${number}" name)
  expect("${number}" "${name}" "${wanted}")
endforeach()

set(gpus gfx90a gfx942 gfx1100)
foreach(
  row
  IN
  ITEMS "0|gfx90a" "1,0|gfx942 gfx90a" "2|gfx1100" "|" "-1|" "0,7,1|gfx90a" "GPU-123456|gfx90a gfx942 gfx1100" "none|"
)
  string(REGEX MATCH "^([^|]*)\\|(.*)$" matched "${row}")
  set(value "${CMAKE_MATCH_1}")
  string(REPLACE " " ";" wanted "${CMAKE_MATCH_2}")
  _cudaops_amd_gpus_chosen("${gpus}" "${value}" chosen)
  expect("visible ${value}" "${chosen}" "${wanted}")
endforeach()
message(STATUS "all as expected")
