# Ended politely, it takes its half-made part along.
use_fake_uv()
case_environment(FAKE_UV=hang)
file(
  WRITE "${case_DIR}/end.sh"
  [=[
"$@" >out 2>err &
i=0
while [ ! -s uv.pid ] && [ $i -lt 200 ]; do sleep 0.05; i=$((i+1)); done
read word pid rest <store/torch/.lock
kill -15 $pid
wait $!
echo "exit code $?"
cat err
if kill -0 $(cat uv.pid) 2>/dev/null; then echo "the installer lives on"; fi
]=]
)
case_step(
  end
  COMMAND
    sh "${case_DIR}/end.sh" "${case_CMAKE}" "-Dcase_REPO=${case_REPO}" "-DPython_EXECUTABLE=${case_PYTHON}"
    "-Dcall=_cudaops_provide_torch" -P "${case_SUITE}/common/call.cmake"
)
case_match(
  "says so"
  "${case_STEP_STDOUT}"
  "exit code 1 .*CUDAOPS_PROVIDE=TORCH: the installing script ended early\\. found .*/python/cudaops/provide: exit code 143 Fix: run the same command again"
)
case_not_match("the installer is ended too" "${case_STEP_STDOUT}" "lives on")
expect_store(torch)

# The signal comes while the installer is being started.
case_step(at_once COMMAND "${case_PYTHON}" -B "${case_SUITE}/common/ended_at_once.py" "${case_REPO}/python")
case_match("no installer lives on" "${case_STEP_STDOUT}" "none is left behind")
