case_step(one RESULT 3 COMMAND sh -c "exit 4")
