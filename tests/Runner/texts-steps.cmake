# A case passes only if exit code, stdout and stderr match, and stderr is empty unless said otherwise.
run_inner(passes PASSES)
run_inner(warns FAILS "stderr does not match" "nobody planned this")
run_inner(error_text PASSES)
run_inner(error_other_text FAILS "stderr does not match")
run_inner(error_and_more FAILS "stderr does not match")
run_inner(error_exit_code FAILS "exit code expected \\[0\\] actual \\[1\\]")
run_inner(no_error FAILS "exit code expected \\[1\\] actual \\[0\\]")
run_inner(stdout FAILS "stdout does not match")
