# Several heavy files never stop the light ones: these have a pool of their own. One heavy file leaves room beside it.
machine(CUDA)
lent(small LIMIT 6144 USED 100)
slow()
sources(cu 1 3 <torch/extension.h>)
sources(cu 4 9)
sources(cpp 1 4)
set(
  ops
  "add_torch_op(heavy_op ABI FULL SOURCES h1.cpp CUDA_SOURCES k1.cu k2.cu k3.cu)
add_torch_op(light_op SOURCES h2.cpp h3.cpp h4.cpp CUDA_SOURCES k4.cu k5.cu k6.cu k7.cu k8.cu k9.cu)"
)
configure("${ops}" ARGS ${jobs_LENT} ${jobs_SLOW})
by_source(by_source)
set(light_jobs 6)
if(by_source)
  # Host files beside them.
  set(light_jobs 3)
endif()
expect_stdout(
  "-- CudaOps: 1 heavy and ${light_jobs} light CUDA jobs at a time: 5\\.9 GiB free \\(cgroup\\), 2\\.9 GiB a heavy file \\(k1\\.cu with torch's C\\+\\+ API\\), 0\\.5 GiB a light file \\(k4\\.cu without torch's C\\+\\+ API\\), 16 cores; CUDAOPS_CUDA_JOBS wins"
)
expect_jobs(cuda ${light_jobs} heavy 1 host "" link "")
case_build(ARGS -j18)
at_once(heavy "heavy_op\\.dir/.*\\.cu\\.o$")
case_equal("heavy jobs at once" "${heavy}" 1)
at_once(light "light_op\\.dir/.*\\.cu\\.o$")
case_equal("light jobs at once" "${light}" ${light_jobs})
at_once(host "\\.cpp\\.o$")
if(by_source AND host LESS 3)
  case_fail("C++ jobs at once: ${host}")
endif()

# In one op: CMake has pools of sources from 4.2 on.
set(ops "add_torch_op(one_op ABI FULL CUDA_SOURCES k1.cu k2.cu k3.cu k4.cu k5.cu k6.cu k7.cu k8.cu k9.cu)")
set(
  light
  k4.cu=250
  k5.cu=250
  k6.cu=250
  k7.cu=250
  k8.cu=250
  k9.cu=250
)
measured(${light})
configure("${ops}" ARGS ${jobs_LENT})
if(NOT by_source)
  expect_jobs(cuda 2 heavy "")
else()
  expect_jobs(cuda 6 heavy 1)
endif()

# One heavy file: as many run at once as fit, whichever they are.
set(ops "add_torch_op(one_op ABI FULL CUDA_SOURCES k1.cu k4.cu k5.cu k6.cu k7.cu k8.cu k9.cu)")
lent(smaller LIMIT 4096 USED 300)
configure("${ops}" ARGS ${jobs_LENT})
# What the op says of itself is a host file; where that is in a pool of its own it has memory of its own.
set(fitting 4)
if(by_source)
  set(fitting 2)
endif()
expect_stdout("CudaOps: ${fitting} CUDA jobs")
expect_jobs(cuda ${fitting} heavy "")
