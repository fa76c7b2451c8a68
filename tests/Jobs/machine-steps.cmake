# What is read of cores and memory: control groups of both versions, the groups around one's own, caches of files that
# the kernel takes back, what a container shows, and nothing at all.
function(expect_machine what expected)
  file(
    WRITE "${case_DIR}/ask.cmake"
    "cmake_minimum_required(VERSION 3.25)
include([==[${case_REPO}/cmake/detail/base/use.cmake]==])
_cudaops_use(base/machine)
_cudaops_machine(m)
message(STATUS \"machine: \${m_CORES} \${m_QUOTA} \${m_FREE} \${m_SOURCE}\")\n"
  )
  case_step("${what}" COMMAND "${case_CMAKE}" ${jobs_LENT} -P "${case_DIR}/ask.cmake")
  string(REGEX MATCH "machine: [^\n]*" said "${case_STEP_STDOUT}")
  case_equal("${what}" "${said}" "machine: ${expected}")
endfunction()

lent(free CORES 16 AVAILABLE 20000)
expect_machine("no limit" "16 16 20000 machine")
lent(v2 LIMIT 4096 USED 1400 CACHED 990 QUOTA 3)
expect_machine("version 2, limits of the group around" "16 3 3686 cgroup")
file(WRITE "${case_DIR}/v2/sys/fs/cgroup/box/build/memory.max" "1073741824\n")
expect_machine("version 2, the build's own group has less" "16 3 1023 cgroup")
file(WRITE "${case_DIR}/v2/sys/fs/cgroup/box/build/memory.current" "2147483648\n")
expect_machine("version 2, more than there may be" "16 3 0 cgroup")
file(WRITE "${case_DIR}/v2/sys/fs/cgroup/box/build/cpu.max" "150000 100000\n")
expect_machine("version 2, a core and a half" "16 2 0 cgroup")
lent(v1 LIMIT 4096 USED 1400 CACHED 990 QUOTA 4 V1)
expect_machine("version 1" "16 4 3686 cgroup")
lent(v1_free V1 CORES 4)
expect_machine("version 1 without limits" "4 4 65536 machine")
lent(roomy AVAILABLE 1000 LIMIT 4096 USED 0)
expect_machine("less on the machine than in the group" "16 16 1000 machine")

# A container: the mount begins at its own group, /proc tells the path from outside of it, or from above.
lent(container LIMIT 4096 USED 96)
set(root "${case_DIR}/container")
file(RENAME "${root}/sys/fs/cgroup/box" "${root}/box")
file(REMOVE_RECURSE "${root}/sys/fs/cgroup")
file(RENAME "${root}/box" "${root}/sys/fs/cgroup")
file(WRITE "${root}/proc/self/mountinfo" "38 31 0:35 /docker/box /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n")
foreach(
  path
  IN
  ITEMS /docker/box /docker/box/build / /somewhere/else /../../up
)
  file(WRITE "${root}/proc/self/cgroup" "0::${path}\n")
  expect_machine("a container at ${path}" "16 16 4000 cgroup")
endforeach()

file(WRITE "${root}/proc/self/status" "Cpus_allowed_list:\t0-3,8,10-11\n")
expect_machine("some cores" "7 7 4000 cgroup")
file(REMOVE_RECURSE "${root}/proc" "${root}/sys")
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
expect_machine("nothing to read" "${cores} ${cores}  machine")
