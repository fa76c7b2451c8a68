# What is said about distributed compiles, and what is done where they fail, with an sccache that only acts as if. With
# real servers: dist.
host_kernels()
fake_cache(
  sccache
  0.16.0
  "cd '${case_DIR}/farm' && case $1 in
  --dist-status) cat status; exit ;;
  --show-stats) echo \"{\\\"stats\\\":{\\\"dist_compiles\\\":{\\\"s:1\\\":$(cat done)},\\\"dist_errors\\\":$(cat errors)}}\"; exit ;;
  --stop-server) echo stop >>calls; exit ;;
esac
cd \"$OLDPWD\"
farm='${case_DIR}/farm'
case $SCCACHE_CONF in
  *-local.conf) echo local >>\"$farm/calls\"; exec \"$@\" ;;
esac
mode=$(cat \"$farm/mode\")
echo \"$mode\" >>\"$farm/calls\"
case $mode in
  elsewhere) expr $(cat \"$farm/done\") + 1 >\"$farm/done.new\"; mv \"$farm/done.new\" \"$farm/done\" ;;
  here)
    echo 1 >\"$farm/errors\"
    echo '[t WARN  c] [x.o]: Could not perform distributed compile, falling back to local: could not run distributed compilation job on ServerId(10.0.0.9:10501): error sending request for url (https://10.0.0.9:10501/x/1): connection closed' >>\"$SCCACHE_ERROR_LOG\" ;;
  token) echo '[\"x.o\"] http error status: Error 401: Fixed token mismatch' >&2; exit 1 ;;
  killed) printf 'sccache: Compiler killed by signal 9\\n' >&2; exit 254 ;;
esac
exec \"$@\""
)
file(MAKE_DIRECTORY "${case_DIR}/farm")
# farm(<mode> [<status>]): what the scheduler says, and what becomes of compiles.
function(farm mode)
  file(WRITE "${case_DIR}/farm/mode" "${mode}\n")
  file(WRITE "${case_DIR}/farm/done" "0\n")
  file(WRITE "${case_DIR}/farm/errors" "0\n")
  file(WRITE "${case_DIR}/farm/calls" "")
  set(status "{\"SchedulerStatus\":[\"http://s/\",{\"num_servers\":2,\"num_cpus\":4,\"in_progress\":0}]}")
  if(ARGC GREATER 1)
    set(status "${ARGV1}")
  endif()
  file(WRITE "${case_DIR}/farm/status" "${status}\n")
endfunction()
# calls(<what> <words>): which way the compiles went since the last call.
function(calls what expected)
  file(STRINGS "${case_DIR}/farm/calls" lines ENCODING UTF-8)
  list(JOIN lines " " lines)
  case_equal("calls, ${what}" "${lines}" "${expected}")
  file(WRITE "${case_DIR}/farm/calls" "")
endfunction()
# distributed(<state> <reason>)
function(distributed state reason)
  case_report_equal("${state}" cache distributed state)
  case_report_equal("${reason}" cache distributed reason)
endfunction()
function(again)
  case_build(ARGS -j1 --clean-first)
  set(case_STEP_STDOUT "${case_STEP_STDOUT}" PARENT_SCOPE)
endfunction()

# Nobody asked for it.
farm(elsewhere)
case_configure(ARGS -DCUDAOPS_CACHE=OFF)
distributed(OFF "")
list(APPEND case_ARGS -DCUDAOPS_CACHE=sccache)
case_configure()
distributed(OFF "sccache's configuration names no scheduler")
refuse_stdout("distributed")
file(
  WRITE "${case_DIR}/config/sccache/config"
  "# scheduler_url = \"http://a\"\n[cache.redis]\npassword = \"hunter2\"\n"
)
case_environment("XDG_CONFIG_HOME=${case_DIR}/config")
case_configure()
distributed(OFF "sccache's configuration names no scheduler")
calls("no scheduler" "")

# It works: proven once, then known.
file(
  WRITE "${case_DIR}/config/sccache/config"
  "dist.cache_dir = \"/d\"\n[cache.redis]\npassword = \"hunter2\"\n[dist]\nscheduler_url = \"http://me:pw@s\" # ours\n[dist.auth]\ntype = \"token\"\ntoken = \"t\"\n[[dist.toolchains]]\ntype = \"no_dist\"\n[cache.disk]\nsize = 1\n"
)
case_configure()
expect_stdout("-- CudaOps: compiles are distributed by sccache through http://\\*\\*\\*@s -- ")
case_report_equal("http://***@s" cache distributed scheduler)
distributed(ON "")
calls("proof" "elsewhere")
case_configure()
distributed(ON "")
calls("proof, remembered" "")
case_build(ARGS -j1)
calls("build" "elsewhere elsewhere")

# The other server's configuration: all but the scheduler, for nobody else to read, and not in the build tree.
file(GLOB_RECURSE copies "${case_DIR}/*-local.conf")
list(LENGTH copies count)
case_equal("copies" ${count} 1)
file(READ "${copies}" text)
case_equal("the copy" "${text}" "[cache.redis]\npassword = \"hunter2\"\n[cache.disk]\nsize = 1\n")
case_step(permissions COMMAND stat -c %a "${copies}")
case_equal(permissions "${case_STEP_STDOUT}" "600\n")
case_step(secrets RESULT 1 COMMAND grep -rl -e hunter2 -e me:pw "${case_BUILD_DIR}")

# A server died: sccache does it here, the line is said once, and the farm is asked again.
farm(here)
again()
string(REGEX MATCHALL "CudaOps: [^\n]+" lines "${case_STEP_STDOUT}")
case_equal(
  "the line"
  "${lines}"
  "CudaOps: a compile that was to be distributed ran here: server 10.0.0.9:10501: connection closed"
)
calls("server died" "here here")

# The scheduler's refusal looks like the compiler's failure.
farm(token)
again()
string(REGEX MATCHALL "CudaOps: [^\n]+" lines "${case_STEP_STDOUT}")
case_equal(
  "the line"
  "${lines}"
  "CudaOps: a distributed compile failed, for a minute all run here: Error 401: Fixed token mismatch"
)
calls("refused" "token local")
file(REMOVE_RECURSE "${case_BUILD_DIR}/CudaOps/cache/here")
farm(killed)
again()
string(REGEX MATCHALL "CudaOps: [^\n]+" lines "${case_STEP_STDOUT}")
case_equal(
  "the line"
  "${lines}"
  "CudaOps: a distributed compile failed, for a minute all run here: sccache: Compiler killed by signal 9"
)
calls("killed" "killed local")
file(REMOVE_RECURSE "${case_BUILD_DIR}/CudaOps/cache/here")

# The compiler's own: once, with its exit code, and no blame.
farm(elsewhere)
file(WRITE "${case_DIR}/src/one.cpp" "int one() { return nothing; }\n")
case_build(RESULT 1 ARGS -j1)
set_property(GLOBAL PROPERTY case_STDERR "")
string(REGEX MATCHALL "error: [^\n]*nothing" lines "${case_STEP_STDOUT}${case_STEP_STDERR}")
list(LENGTH lines count)
case_equal("errors shown" ${count} 1)
refuse_stdout("CudaOps: a ")
file(WRITE "${case_DIR}/src/one.cpp" "int one() { return 1; }\n")
case_build(ARGS -j1)

# What keeps it from working: one line, and compiles run here.
function(fails what mode status reason)
  farm(${mode} "${status}")
  set(build "${case_DIR}/fails ${what}")
  case_configure(BUILD_DIR "${build}")
  string(REGEX MATCHALL "[^\n]*distributed[^\n]*" lines "${case_STEP_STDOUT}")
  case_equal("the line, ${what}" "${lines}" "     compiles are not distributed, they run here: ${reason}")
  file(READ "${build}/cudaops-report.json" report)
  string(JSON state GET "${report}" cache distributed state)
  string(JSON said GET "${report}" cache distributed reason)
  case_equal("the report, ${what}" "${state} ${said}" "OFF ${reason}")
  farm(elsewhere)
  case_build(BUILD_DIR "${build}" ARGS -j1)
  calls("${what}" "local local")
endfunction()
set(well "{\"SchedulerStatus\":[\"http://s/\",{\"num_servers\":2,\"num_cpus\":4,\"in_progress\":0}]}")
set(s "http://***@s")
fails(scheduler elsewhere "{\"NotConnected\":[\"http://s/\",\"x\"]}" "the scheduler ${s} can't be reached")
fails(servers elsewhere "{\"SchedulerStatus\":[\"http://s/\",{\"num_servers\":0}]}" "the scheduler ${s} has no servers")
fails(
  disabled
  elsewhere
  "{\"Disabled\":\"no feature\"}"
  "sccache has a scheduler in its configuration and doesn't use it (no feature)"
)
fails(
  token
  token
  "${well}"
  "the scheduler ${s} refuses this client (Fixed token mismatch): dist.auth.token is not the scheduler's"
)
fails(killed killed "${well}" "a compile through ${s} failed: sccache: Compiler killed by signal 9")
fails(
  server
  here
  "${well}"
  "server 10.0.0.9:10501: connection closed"
)
fails(nothing idle "${well}" "sccache ran 0 of at least 1 parts of a compile elsewhere, 0 failed there")

# Another token is another configuration: asked again, where it was known before.
file(APPEND "${case_DIR}/config/sccache/config" "# changed\n")
farm(token)
case_configure()
case_report_equal(OFF cache distributed state)
farm(elsewhere)
case_configure()
distributed(ON "")

# A store that can't be written, and one too deep for a socket.
file(WRITE "${case_DIR}/file" "")
case_configure(BUILD_DIR "${case_DIR}/no store" ARGS "-DCUDAOPS_STORE=${case_DIR}/file/store")
expect_stdout("compiles are distributed")
file(STRINGS "${case_DIR}/no store/CudaOps/cache/cxx.settings" lines REGEX "^dist_" ENCODING UTF-8)
case_match("settings" "${lines}" "^dist_config [^;]*;dist_socket ..x00cudaops-[0-9a-f]+;dist_local_config /dev/null;dist_local_socket ..x00cudaops-[0-9a-f]+-local$")
string(REPEAT "/deep" 20 deep)
case_configure(BUILD_DIR "${case_DIR}/deep" ARGS "-DCUDAOPS_STORE=${case_DIR}/store${deep}")
file(STRINGS "${case_DIR}/deep/CudaOps/cache/cxx.settings" lines REGEX "^dist_" ENCODING UTF-8)
case_match("settings" "${lines}" "dist_socket ..x00cudaops-[0-9a-f]+;dist_local_config [^;]*/deep/sccache/[0-9a-f]+-local.conf;.*dist_log <case>/")
