# How many compiles and links run at once: what is said of it, what build.ninja says, and what .ninja_log saw.

include("${case_TESTS_DIR}/AddTorchOp/common/commands.cmake")

# lent(<name> [CORES <n>] [QUOTA <n>] [AVAILABLE <MiB>] [LIMIT <MiB> USED <MiB> [CACHED <MiB>]] [V1])
#
# A machine's own files about itself, and jobs_LENT, which makes a configure step read them: control groups of version 2,
# or 1; the limit and the quota stand in the group around that of the build.
function(lent name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "V1" "CORES;QUOTA;AVAILABLE;LIMIT;USED;CACHED" "")
  set(root "${case_DIR}/${name}")
  foreach(default IN ITEMS CORES=16 AVAILABLE=65536 CACHED=0)
    string(REGEX MATCH "^(.*)=(.*)$" default "${default}")
    if(NOT arg_${CMAKE_MATCH_1})
      set(arg_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
    endif()
  endforeach()
  math(EXPR last "${arg_CORES} - 1")
  math(EXPR available "${arg_AVAILABLE} * 1024")
  file(WRITE "${root}/proc/meminfo" "MemTotal:  1000000000 kB\nMemFree:  1 kB\nMemAvailable:   ${available} kB\n")
  file(WRITE "${root}/proc/self/status" "Name:\tcmake\nCpus_allowed_list:\t0-${last}\n")
  set(bytes "")
  foreach(key IN ITEMS LIMIT USED CACHED)
    set(${key} 0)
    if(arg_${key})
      math(EXPR ${key} "${arg_${key}} * 1048576")
    endif()
  endforeach()
  if(arg_V1)
    set(memory "${root}/sys/fs/cgroup/memory/box")
    set(cpu "${root}/sys/fs/cgroup/cpu,cpuacct/box")
    file(WRITE "${root}/proc/self/cgroup" "5:memory:/box/build\n3:cpu,cpuacct:/box/build\n1:name=systemd:/\n0::/\n")
    file(
      WRITE "${root}/proc/self/mountinfo"
      "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
      "35 31 0:32 / /sys/fs/cgroup/memory rw,nosuid shared:9 - cgroup cgroup rw,memory\n"
      "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
      "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
    )
    file(WRITE "${memory}/build/memory.limit_in_bytes" "9223372036854771712\n")
    file(WRITE "${memory}/build/memory.usage_in_bytes" "1\n")
    file(WRITE "${cpu}/build/cpu.cfs_quota_us" "-1\n")
    file(WRITE "${cpu}/build/cpu.cfs_period_us" "100000\n")
    if(arg_LIMIT)
      file(WRITE "${memory}/memory.limit_in_bytes" "${LIMIT}\n")
      file(WRITE "${memory}/memory.usage_in_bytes" "${USED}\n")
      file(WRITE "${memory}/memory.stat" "inactive_file 1\ntotal_inactive_file ${CACHED}\ntotal_active_file 0\n")
    endif()
    if(arg_QUOTA)
      file(WRITE "${cpu}/cpu.cfs_quota_us" "${arg_QUOTA}00000\n")
      file(WRITE "${cpu}/cpu.cfs_period_us" "100000\n")
    endif()
  else()
    set(box "${root}/sys/fs/cgroup/box")
    file(WRITE "${root}/proc/self/cgroup" "0::/box/build\n")
    file(WRITE "${root}/proc/self/mountinfo" "38 31 0:35 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n")
    file(WRITE "${box}/build/memory.max" "max\n")
    file(WRITE "${box}/build/memory.current" "1\n")
    file(WRITE "${box}/build/cpu.max" "max 100000\n")
    if(arg_LIMIT)
      file(WRITE "${box}/memory.max" "${LIMIT}\n")
      file(WRITE "${box}/memory.current" "${USED}\n")
      file(WRITE "${box}/memory.stat" "anon 1\nfile ${CACHED}\ninactive_file ${CACHED}\nactive_file 0\n")
    endif()
    if(arg_QUOTA)
      file(WRITE "${box}/cpu.max" "${arg_QUOTA}00000 100000\n")
    endif()
  endif()
  set(jobs_LENT "-D_CUDAOPS_JOBS_MACHINE=${root}" PARENT_SCOPE)
endfunction()

# by_source(<out>): whether this CMake has pools of sources; before 4.2 a target's host files are in the pool of its .cu files.
function(by_source out)
  execute_process(COMMAND "${case_CMAKE}" --version OUTPUT_VARIABLE version)
  string(REGEX MATCH "[0-9]+\\.[0-9]+" version "${version}")
  set(${out} TRUE PARENT_SCOPE)
  if(version VERSION_LESS 4.2)
    set(${out} FALSE PARENT_SCOPE)
  endif()
endfunction()

# measured(<source>=<MiB>...): as if the last build had noted it.
function(measured)
  set(text "")
  foreach(pair IN LISTS ARGN)
    string(REGEX MATCH "^(.*)=(.*)$" pair "${pair}")
    math(EXPR size "${CMAKE_MATCH_2} * 1024")
    string(APPEND text "${size} ${case_DIR}/src/${CMAKE_MATCH_1}\n")
  endforeach()
  file(WRITE "${case_BUILD_DIR}/CudaOps/jobs/memory" "${text}")
endfunction()

# sources(<kind> <first> <last> [<include>...]): k<i>.cu or h<i>.cpp in the project.
function(sources kind first last)
  foreach(i RANGE ${first} ${last})
    set(text "#ifdef NEVER\n")
    foreach(header IN LISTS ARGN)
      string(APPEND text "#include ${header}\n")
    endforeach()
    if(kind STREQUAL "cu")
      file(WRITE "${case_DIR}/src/k${i}.cu" "${text}#endif\nint k${i}() { return ${i}; }\n")
    else()
      file(WRITE "${case_DIR}/src/h${i}.cpp" "${text}#endif\nint h${i}() { return ${i}; }\n")
    endif()
  endforeach()
endfunction()

# slow(): launchers of the user's that make a compile so long that those which Ninja starts together are seen together.
function(slow)
  file(WRITE "${case_DIR}/slow.sh" "sleep 0.1\nexec \"$@\"\n")
  set(
    jobs_SLOW
    "-DCMAKE_CXX_COMPILER_LAUNCHER=sh$<SEMICOLON>${case_DIR}/slow.sh"
    "-DCMAKE_CUDA_COMPILER_LAUNCHER=sh$<SEMICOLON>${case_DIR}/slow.sh"
    PARENT_SCOPE
  )
  string(REPLACE "$<SEMICOLON>" "\\;" jobs_SLOW "${jobs_SLOW}")
endfunction()

# at_once(<out> <regex>): how many outputs that match were being made at one time, by the last build's .ninja_log.
function(at_once out regex)
  file(STRINGS "${case_BUILD_DIR}/.ninja_log" lines REGEX "^[0-9]+\t[0-9]+\t[0-9]+\t" ENCODING UTF-8)
  set(outputs "")
  set(starts "")
  set(ends "")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^([0-9]+)\t([0-9]+)\t[0-9]+\t([^\t]*)" line "${line}")
    set(output "${CMAKE_MATCH_3}")
    set(start_${output} ${CMAKE_MATCH_1})
    set(end_${output} ${CMAKE_MATCH_2})
    if(output MATCHES "${regex}")
      list(APPEND outputs "${output}")
    endif()
  endforeach()
  # Lines of earlier builds may stand before that of the last one.
  list(REMOVE_DUPLICATES outputs)
  foreach(output IN LISTS outputs)
    list(APPEND starts ${start_${output}})
    list(APPEND ends ${end_${output}})
  endforeach()
  set(most 0)
  foreach(moment IN LISTS starts)
    set(running 0)
    foreach(start end IN ZIP_LISTS starts ends)
      if(start LESS_EQUAL moment AND end GREATER moment)
        math(EXPR running "${running} + 1")
      endif()
    endforeach()
    if(running GREATER most)
      set(most ${running})
    endif()
  endforeach()
  set(${out} ${most} PARENT_SCOPE)
endfunction()

# expect_jobs(<member> <number or empty>...): of the member "jobs" of the report.
function(expect_jobs)
  math(EXPR last "${ARGC} - 1")
  foreach(i RANGE 0 ${last} 2)
    math(EXPR j "${i} + 1")
    case_report(value jobs ${ARGV${i}})
    case_equal("jobs.${ARGV${i}} of cudaops-report.json" "${value}" "${ARGV${j}}")
  endforeach()
endfunction()

# box(<MiB>): a control group of this machine's own with so much memory, box_RUN to run a command inside of it (it ends
# with 99 where the kernel killed something there). Skips the case where that isn't allowed.
function(box limit)
  math(EXPR bytes "${limit} * 1048576")
  file(
    WRITE "${case_DIR}/box.sh"
    "# sh box.sh <bytes> <command> <argument>...
bytes=$1
shift
group=$(sed -n 's/^[0-9]*:memory:/memory/p' /proc/self/cgroup)
max=memory.limit_in_bytes events=memory.oom_control
if [ -z \"$group\" ]; then
  group=$(sed -n 's/^0:://p' /proc/self/cgroup)
  max=memory.max events=memory.events
fi
box=/sys/fs/cgroup/$group/cudaops-jobs-$$
mkdir \"$box\" 2>/dev/null && echo $bytes >\"$box/$max\" 2>/dev/null || { rmdir \"$box\" 2>/dev/null; exit 98; }
# Swap would hide what is wrong here.
[ ! -e \"$box/memory.swap.max\" ] || echo 0 >\"$box/memory.swap.max\"
sh -c 'echo $$ >\"$0/cgroup.procs\" && exec \"$@\"' \"$box\" \"$@\"
status=$?
killed=$(sed -n 's/^oom_kill //p' \"$box/$events\")
n=0
until rmdir \"$box\" 2>/dev/null || [ $n = 20 ]; do sleep 0.1; n=$((n + 1)); done
[ \"$killed\" = 0 ] || exit 99
exit $status
"
  )
  execute_process(COMMAND sh "${case_DIR}/box.sh" ${bytes} true RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
  if(NOT result EQUAL 0)
    case_skip("no control group can be made here")
    return()
  endif()
  set(box_RUN sh "${case_DIR}/box.sh" ${bytes} PARENT_SCOPE)

  # What is read is this machine's own, but for the cores.
  set(root "${case_DIR}/in_box")
  file(MAKE_DIRECTORY "${root}/proc/self")
  file(WRITE "${root}/proc/self/status" "Cpus_allowed_list:\t0-15\n")
  foreach(file IN ITEMS proc/meminfo proc/self/cgroup proc/self/mountinfo sys)
    file(CREATE_LINK "/${file}" "${root}/${file}" SYMBOLIC)
  endforeach()
  set(jobs_LENT "-D_CUDAOPS_JOBS_MACHINE=${root}" PARENT_SCOPE)
endfunction()
