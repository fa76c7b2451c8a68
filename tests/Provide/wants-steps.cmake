foreach(
  row
  "TORCH||FALSE"
  "TORCH|TORCH|TRUE"
  "TOOLKIT|TORCH|FALSE"
  "TOOLKIT|TORCH,TOOLKIT|TRUE"
  "TORCH|TOOLKIT TORCH|TRUE"
)
  string(REPLACE "|" ";" row "${row}")
  list(GET row 0 what)
  list(GET row 1 value)
  list(GET row 2 expected)
  case_environment("CUDAOPS_PROVIDE=${value}")
  call_provide("${row}" _cudaops_provide_wants ${what})
  case_equal("${row}" "${case_STEP_STDOUT}" "-- result [${expected}]\n")
endforeach()
