# Steps: a step that fails ends the sequence, RESULT takes exactly that code, a case without a step proves nothing.
run_inner(step_fails FAILS "exit code expected \\[0\\] actual \\[3\\]")
run_inner(step_result PASSES)
run_inner(step_other_result FAILS "Step one: exit code expected \\[3\\] actual \\[4\\]")
run_inner(no_step FAILS "ran no step")
run_inner(check_fails FAILS "the check expected \\[2\\] actual \\[1\\]")
run_inner(skip SKIPS "no reason")
run_inner(rerun FAILS "Run again by hand: sh .?<case>/rerun/step-1.sh.? # one"
)
file(READ "${case_DIR}/rerun/step-1.sh" script)
case_match("the script" "${script}" "^#!/bin/sh cd .+/rerun'? .* exec env -i .* PATH=.+ .* CUDA_HOME='/a b' .* sh -c 'exit 3'$"
)
