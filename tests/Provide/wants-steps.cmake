# CUDAOPS_PROVIDE from the environment: a list with blanks, commas or semicolons.
foreach(row "|" "TORCH|TORCH" "TORCH,TOOLKIT|TORCH;TOOLKIT" "TOOLKIT TORCH|TOOLKIT;TORCH")
  string(REGEX MATCH "^([^|]*)[|](.*)$" ignored "${row}")
  set(expected "${CMAKE_MATCH_2}")
  case_environment("CUDAOPS_PROVIDE=${CMAKE_MATCH_1}")
  call_provide("provide" _cudaops_option CUDAOPS_PROVIDE)
  case_equal("${row}" "${case_STEP_STDOUT}" "-- result [${expected}]\n")
endforeach()
