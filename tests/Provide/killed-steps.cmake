# SIGKILL in the middle of a download: the installer ends too, the next run starts at once and leaves no trace of it.
use_fake_uv()
case_environment(FAKE_UV=hang)
file(
  WRITE "${case_DIR}/kill.sh"
  [=[
"$@" >/dev/null 2>&1 &
i=0
while [ ! -s uv.pid ] && [ $i -lt 200 ]; do sleep 0.05; i=$((i+1)); done
read word pid rest <store/toolkits/.lock
kill -9 $pid
i=0
while kill -0 $(cat uv.pid) 2>/dev/null && [ $i -lt 100 ]; do sleep 0.05; i=$((i+1)); done
if kill -0 $(cat uv.pid) 2>/dev/null; then echo "the installer lives on"; exit 1; fi
wait
ls -d store/toolkits/.part-*/half
]=]
)
case_step(
  kill
  COMMAND
    sh "${case_DIR}/kill.sh" "${case_CMAKE}" "-Dcase_REPO=${case_REPO}" "-DPython_EXECUTABLE=${case_PYTHON}"
    "-Dcall=_cudaops_provide_toolkit;13.2.2;x" -P "${case_SUITE}/common/call.cmake"
)
call_provide(list _cudaops_provided_toolkits)
case_equal("nothing complete" "${case_STEP_STDOUT}" "-- result []\n")
case_environment(FAKE_UV=ok)
call_provide(again _cudaops_provide_toolkit 13.2.2 x)
case_not_match("does not wait" "${case_STEP_STDOUT}" "waiting")
expect_store(toolkits 13.2.2)
