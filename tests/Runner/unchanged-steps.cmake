# tests/unchanged.py: what passed is not run again; what was skipped is, and alone where the command says its name.
file(
  WRITE "${case_DIR}/test.py"
  [==[
import os, sys
names = os.environ["CUDAOPS_TEST_SKIPPED"]
what = sys.argv[1]
print("only", open(names).read().strip() if os.path.exists(names) else "everything")
if what == "names":
    open(names, "w").write("" if os.path.exists("tool") else "one\n")
if what != "passes" and not os.path.exists("tool"):
    print("1 skipped")
]==]
)
file(WRITE "${case_DIR}/input" "first")
# run(<what> <regex of stdout>)
function(run what wanted)
  case_step(
    "${what}"
    COMMAND
      "${case_PYTHON}" -B "${case_TESTS_DIR}/unchanged.py" --record "${case_DIR}/${what}.passed" --input
      "${case_DIR}/input" --script "${case_DIR}/test.py" ${what}
  )
  case_match("${what}" "${case_STEP_STDOUT}" "^${wanted}$")
endfunction()
set(before "Passed before, and nothing that it depends on has changed; CUDAOPS_TEST_AGAIN=1 runs it again.")
string(REPLACE "before" "before, but for what was skipped" but "${before}")
run(passes "only everything")
run(passes "${before}")
run(skips "only everything 1 skipped")
run(skips "only everything 1 skipped")
run(names "only everything 1 skipped")
run(names "${but} only one 1 skipped")
run(names "${but} only one 1 skipped")
file(WRITE "${case_DIR}/input" "second")
run(passes "only everything")
run(names "only everything 1 skipped")
# What was missing is there now.
file(WRITE "${case_DIR}/tool" "")
run(names "${but} only one")
run(names "${before}")
run(skips "only everything")
run(skips "${before}")
