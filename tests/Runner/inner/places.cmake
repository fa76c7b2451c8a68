# Paths as programs write them.
string(REPLACE " " "\\ " shell "${case_DIR}/src")
string(REPLACE " " "$ " ninja "${case_DIR}/src")
message("${case_DIR}/src -I${case_REPO}/cmake ${shell} ${ninja}")
