# A quota that Ninja's own number doesn't know of; links that are too many for the memory.
machine(CUDA)
sources(cu 1 9)
set(op "add_torch_op(my_op CUDA_SOURCES k1.cu k2.cu k3.cu k4.cu k5.cu k6.cu k7.cu k8.cu k9.cu)")
lent(quota CORES 64 QUOTA 4)
configure("${op}" ARGS ${jobs_LENT})
expect_stdout("-- CudaOps: 6 CUDA jobs at a time: 4 cores \\(cgroup, of 64\\); CUDAOPS_CUDA_JOBS wins")
expect_jobs(cuda 6 host "" link "")

lent(tiny LIMIT 1000 USED 0)
set(ops "")
foreach(i RANGE 1 9)
  string(APPEND ops "add_torch_op(op${i} CUDA_SOURCES k${i}.cu)\n")
endforeach()
configure("${ops}set_property(TARGET op9 PROPERTY JOB_POOL_LINK mine)\nset_property(GLOBAL PROPERTY JOB_POOLS mine=1)"
  ARGS ${jobs_LENT}
)
expect_stdout("-- CudaOps: 1 CUDA job(, [0-9] C\\+\\+ jobs?)?, 1 link at a time: 1\\.0 GiB free")
expect_jobs(link 1)
file(READ "${case_BUILD_DIR}/build.ninja" build)
string(REGEX MATCHALL "pool = cudaops_link" links "${build}")
list(LENGTH links links)
case_equal("links in the pool" "${links}" 8)
case_build()
