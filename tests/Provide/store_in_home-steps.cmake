# No shell expands ~ behind -DCUDAOPS_STORE=.
case_environment("HOME=${case_DIR}/my home")
foreach(row "~/x|${case_DIR}/my home/x" "~|${case_DIR}/my home" "/a/~/b|/a/~/b")
  string(REPLACE "|" ";" row "${row}")
  list(GET row 0 given)
  list(GET row 1 wanted)
  call_provide(store _cudaops_store DEFINE "-DCUDAOPS_STORE=${given}")
  case_equal("${given}" "${case_STEP_STDOUT}" "-- result [${wanted}]\n")
endforeach()
