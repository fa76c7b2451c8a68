# 4 GiB, 16 cores, 8 .cu with torch/extension.h: one CUDA job at a time, host files beside it and beside each other, the
# arithmetic said. Another number is another number, and nothing is compiled again for it. (LMCache#4733)
machine(CUDA)
lent(small LIMIT 4096 USED 1400 CACHED 990)
slow()
sources(cu 1 8 <torch/extension.h>)
sources(cpp 1 8)
set(
  ops
  "add_torch_op(my_op ABI FULL SOURCES h1.cpp h2.cpp h3.cpp h4.cpp h5.cpp h6.cpp h7.cpp h8.cpp
  CUDA_SOURCES k1.cu k2.cu k3.cu k4.cu k5.cu k6.cu k7.cu k8.cu)"
)
configure("${ops}" ARGS ${jobs_LENT} ${jobs_SLOW} -DCMAKE_EXPORT_COMPILE_COMMANDS=ON)
by_source(by_source)
set(host_jobs "")
set(host_said "")
set(host_expected 1)
set(both_expected 1)
if(by_source)
  set(host_jobs 2)
  set(host_said ", 2 C\\+\\+ jobs")
  set(host_expected 2)
  set(both_expected 3)
endif()
expect_stdout(
  "-- CudaOps: 1 CUDA job${host_said} at a time: 3\\.6 GiB free \\(cgroup\\), 2\\.9 GiB a file \\(k1\\.cu with torch's C\\+\\+ API\\), 16 cores; CUDAOPS_CUDA_JOBS wins"
)
expect_jobs(cuda 1 heavy "" host "${host_jobs}" link "")
case_build(ARGS -j18)
at_once(cuda "\\.cu\\.o$")
case_equal("CUDA jobs at once" "${cuda}" 1)
at_once(host "\\.cpp\\.o$")
case_equal("C++ jobs at once" "${host}" ${host_expected})
at_once(both "\\.(cu|cpp)\\.o$")
case_equal("jobs at once" "${both}" ${both_expected})
# The compile commands are the compilers' alone.
file(READ "${case_BUILD_DIR}/compile_commands.json" commands)
case_not_match("compile_commands.json" "${commands}" "pool|slow\\.sh")

configure("${ops}" ARGS ${jobs_LENT} ${jobs_SLOW} -DCUDAOPS_CUDA_JOBS=3)
expect_stdout("-- CudaOps: 3 CUDA jobs at a time \\(CUDAOPS_CUDA_JOBS\\)")
expect_jobs(cuda 3 host "")
case_build(ARGS -- -n)
case_not_match("what is compiled again" "${case_STEP_STDOUT}" "Building")
case_build(ARGS --target clean)
case_build(ARGS -j18)
at_once(cuda "\\.cu\\.o$")
case_equal("CUDA jobs at once, as the user says" "${cuda}" 3)

# Room for everything: nothing is held back, nothing is said, nothing is compiled again.
lent(large)
configure("${ops}" ARGS ${jobs_LENT} ${jobs_SLOW} -UCUDAOPS_CUDA_JOBS)
refuse_stdout("at a time" "no job pools")
expect_jobs(cuda "" heavy "" host "" link "" reason "")
file(READ "${case_BUILD_DIR}/CMakeFiles/rules.ninja" rules)
file(READ "${case_BUILD_DIR}/build.ninja" build)
case_not_match("the build files" "${rules}${build}" "cudaops_(cuda|heavy|host|link)")
case_build(ARGS -- -n)
case_not_match("what is compiled again" "${case_STEP_STDOUT}" "Building")
