# Numbers that are none.
machine(CUDA)
lent(small LIMIT 4096 USED 100)
sources(cu 1 1)
foreach(
  value
  IN
  ITEMS many 0 -1 2.5 2x 10000
)
  misuse(
    "add_torch_op(my_op CUDA_SOURCES k1.cu)"
    "CUDAOPS_CUDA_JOBS: not a number of jobs. found ${value} (variable CUDAOPS_CUDA_JOBS)
wanted how many CUDA sources may compile at once, from 1 to 9999
Fix: -DCUDAOPS_CUDA_JOBS=2
or leave it out: the number follows memory and cores"
    ARGS ${jobs_LENT} "-DCUDAOPS_CUDA_JOBS=${value}"
  )
endforeach()
file(REMOVE_RECURSE "${case_BUILD_DIR}")
case_environment(CUDAOPS_CUDA_JOBS=lots)
misuse(
  "add_torch_op(my_op CUDA_SOURCES k1.cu)"
  "CUDAOPS_CUDA_JOBS: not a number of jobs. found lots (environment CUDAOPS_CUDA_JOBS)
wanted how many CUDA sources may compile at once, from 1 to 9999
Fix: -DCUDAOPS_CUDA_JOBS=2
or leave it out: the number follows memory and cores"
  ARGS ${jobs_LENT} -UCUDAOPS_CUDA_JOBS
)
foreach(
  value
  IN
  ITEMS much 0 0.0 -1 2,5 1000
)
  misuse(
    "add_torch_op(my_op CUDA_SOURCES k1.cu)"
    "CUDAOPS_CUDA_JOB_MEMORY: not a number of GiB. found ${value} (variable CUDAOPS_CUDA_JOB_MEMORY)
wanted GiB that nvcc takes for one source and architecture, such as 2.5
Fix: -DCUDAOPS_CUDA_JOB_MEMORY=3
or leave it out: builds measure it"
    ARGS ${jobs_LENT} -DCUDAOPS_CUDA_JOBS=2 "-DCUDAOPS_CUDA_JOB_MEMORY=${value}"
  )
endforeach()
# A slip of the pen.
file(REMOVE_RECURSE "${case_BUILD_DIR}")
case_environment(UNSET CUDAOPS_CUDA_JOBS)
configure("add_torch_op(my_op CUDA_SOURCES k1.cu)" ARGS ${jobs_LENT} -DCUDAOPS_CUDAJOBS=2)
expect_stderr("there is no option CUDAOPS_CUDAJOBS, did you mean CUDAOPS_CUDA_JOBS\\?")
