case_step(one RESULT 3 COMMAND sh -c "exit 3")
case_step(two COMMAND sh -c "echo \"$1\"" sh "a;b [c] \$d")
case_equal("stdout" "${case_STEP_STDOUT}" "a;b [c] \$d\n")
