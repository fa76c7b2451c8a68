# Several heavy files never stop the light ones: these have a pool of their own. One heavy file leaves room beside it.
machine(CUDA)
lent(small LIMIT 6144 USED 100)
slow(0.5)
sources(cu 1 3 <torch/extension.h>)
sources(cu 4 9)
sources(cpp 1 4)
set(
  ops
  "add_torch_op(heavy_op ABI FULL SOURCES h1.cpp CUDA_SOURCES k1.cu k2.cu k3.cu)
add_torch_op(light_op SOURCES h2.cpp h3.cpp h4.cpp CUDA_SOURCES k4.cu k5.cu k6.cu k7.cu k8.cu k9.cu)"
)
configure("${ops}" ARGS ${jobs_LENT} ${jobs_SLOW})
expect_stdout(
  "-- CudaOps: 1 heavy and 6 light CUDA jobs at a time: 5\\.9 GiB free \\(cgroup\\), 2\\.9 GiB a heavy file \\(k1\\.cu includes torch/extension\\.h\\), 0\\.2 GiB a light file \\(k4\\.cu includes nothing large\\), 16 cores; CUDAOPS_CUDA_JOBS wins"
)
expect_jobs(cuda 6 heavy 1 host "" link "")
case_build(ARGS -j18)
at_once(heavy "heavy_op\\.dir/.*\\.cu\\.o$")
case_equal("heavy jobs at once" "${heavy}" 1)
at_once(light "light_op\\.dir/.*\\.cu\\.o$")
case_equal("light jobs at once" "${light}" 6)
at_once(host "\\.cpp\\.o$")
if(host LESS 3)
  case_fail("C++ jobs at once: ${host}")
endif()

# In one op: CMake has pools of sources from 4.2 on.
set(ops "add_torch_op(one_op ABI FULL CUDA_SOURCES k1.cu k2.cu k3.cu k4.cu k5.cu k6.cu k7.cu k8.cu k9.cu)")
configure("${ops}" ARGS ${jobs_LENT})
execute_process(COMMAND "${case_CMAKE}" --version OUTPUT_VARIABLE version)
string(REGEX MATCH "[0-9]+\\.[0-9]+" version "${version}")
if(version VERSION_LESS 4.2)
  expect_jobs(cuda 2 heavy "")
else()
  expect_jobs(cuda 6 heavy 1)
endif()

# One heavy file: as many run at once as fit, whichever they are.
set(ops "add_torch_op(one_op ABI FULL CUDA_SOURCES k1.cu k4.cu k5.cu k6.cu k7.cu k8.cu k9.cu)")
lent(smaller LIMIT 4096 USED 300)
configure("${ops}" ARGS ${jobs_LENT})
expect_stdout("CudaOps: 3 CUDA jobs")
expect_jobs(cuda 3 heavy "")
