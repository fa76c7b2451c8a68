case_step(one COMMAND sh -c "exit 3")
case_step(two COMMAND sh -c "exit 0")
