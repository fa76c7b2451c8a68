# Two configures at once: one installs, the other waits and says so.
use_fake_uv()
case_environment(FAKE_UV=slow)
set(
  one
  "\"${case_CMAKE}\" -Dcase_REPO=\"${case_REPO}\" -DPython_EXECUTABLE=\"${case_PYTHON}\" \"-Dcall=_cudaops_provide_toolkit;13.2.2;x\" -P \"${case_SUITE}/common/call.cmake\""
)
file(MAKE_DIRECTORY "${case_DIR}/a" "${case_DIR}/b" "${case_DIR}/c")
case_step(
  three
  COMMAND sh -c "(cd a; ${one}) & a=$!; (cd b; ${one}) & b=$!; (cd c; ${one}) & c=$!; wait $a && wait $b && wait $c"
)
set(text "${case_STEP_STDOUT}")
case_name_places(text)
string(REGEX MATCHALL "result \\[<case>/store/toolkits/13\\.2\\.2/nvidia/cu13\\]" results "${text}")
list(LENGTH results length)
case_equal("results" "${length}" 3)
case_match("waits" "${case_STEP_STDOUT}" "waiting for process [0-9]+ on [^ ]+, which is at work in")
case_match("then takes it" "${case_STEP_STDOUT}" "13\\.2\\.2 is there now")
expect_calls(1)
expect_store(toolkits 13.2.2)
