# make has no pools: one line, where it matters.
machine(CUDA)
set(case_GENERATOR "Unix Makefiles")
sources(cu 1 8 <torch/extension.h>)
set(op "add_torch_op(my_op ABI FULL CUDA_SOURCES k1.cu k2.cu k3.cu k4.cu k5.cu k6.cu k7.cu k8.cu)")
lent(small LIMIT 8192 USED 100)
configure("${op}" ARGS ${jobs_LENT})
expect_stdout(
  "-- CudaOps: 2 CUDA jobs at a time: 7\\.9 GiB free \\(cgroup\\), 2\\.9 GiB a file \\(k1\\.cu with torch's C\\+\\+ API\\), 16 cores; Unix Makefiles have no job pools: -G Ninja, or make -j2"
)
expect_jobs(cuda "" reason "")
configure("${op}" ARGS ${jobs_LENT} -DCUDAOPS_CUDA_JOBS=3)
expect_stdout("-- CudaOps: CUDAOPS_CUDA_JOBS=3 does nothing: Unix Makefiles have no job pools; -G Ninja")
lent(large)
configure("${op}" ARGS ${jobs_LENT} -UCUDAOPS_CUDA_JOBS)
refuse_stdout("job pools" "at a time")
case_build(ARGS -j2)
