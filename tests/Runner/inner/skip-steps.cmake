case_skip("no reason")
case_step(one COMMAND sh -c "exit 1")
