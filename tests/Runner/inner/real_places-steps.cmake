case_step(pwd COMMAND sh -c "pwd -P; pwd -L")
case_match("both names" "${case_STEP_STDOUT}" "^<case> <case>$")
case_not_match("words of paths" "${case_STEP_STDOUT}" "error")
