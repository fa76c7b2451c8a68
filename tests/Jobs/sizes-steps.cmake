# What a source is taken for until it was measured: by what its target is compiled with, or by CUDAOPS_CUDA_JOB_MEMORY; as
# often as there are architectures that nvcc compiles at once.
machine(CUDA)
lent(small LIMIT 4096 USED 100)
sources(cu 1 40)
set(names "")
foreach(i RANGE 1 40)
  list(APPEND names "k${i}.cu")
endforeach()
list(JOIN names " " names)

# expect_size(<GiB> <why> <code> [<argument>...])
function(expect_size gib why code)
  configure("${code}" ARGS ${jobs_LENT} ${ARGN})
  string(REPLACE "." "\\." regex "${gib} GiB a file (k1.cu ${why})")
  foreach(character IN ITEMS "(" ")" "+")
    string(REPLACE "${character}" "\\${character}" regex "${regex}")
  endforeach()
  expect_stdout(", ${regex}, 16 cores")
endfunction()

set(op "add_torch_op(my_op CUDA_SOURCES ${names})")
expect_size(0.5 "without torch's C++ API" "cudaops_add_kernels(kernels SOURCES ${names})")
expect_size(0.5 "without torch's C++ API" "${op}")
expect_size(2.9 "with torch's C++ API" "add_torch_op(my_op ABI FULL CUDA_SOURCES ${names})")
expect_size(
  2.9 "with torch's C++ API"
  "add_library(mine SHARED ${names})\ncudaops_target_torch(mine ABI FULL)\ncudaops_target_defaults(mine)"
)

# The user knows better, and a build knows best.
expect_size(1.5 "by CUDAOPS_CUDA_JOB_MEMORY" "${op}" -DCUDAOPS_CUDA_JOB_MEMORY=1.5)
expect_size(0.3 "by CUDAOPS_CUDA_JOB_MEMORY" "${op}" -DCUDAOPS_CUDA_JOB_MEMORY=0.25)
measured(k1.cu=1200)
expect_size(1.2 "was measured" "${op}")

# Each architecture that nvcc compiles at once takes as much again.
file(REMOVE "${case_BUILD_DIR}/CudaOps/jobs/memory")
list(FILTER case_ARGS EXCLUDE REGEX "CUDA_ARCHITECTURES")
list(APPEND jobs_LENT -UCUDAOPS_CUDA_JOB_MEMORY)
set(three "-DCMAKE_CUDA_ARCHITECTURES=80\\;90\\;100")
expect_size(1.5 "without torch's C++ API, 3 nvcc threads" "${op}" "${three}")
expect_size(1.0 "without torch's C++ API, 2 nvcc threads" "${op}" "${three}" "-DCMAKE_CUDA_FLAGS=--threads 2")
expect_size(0.5 "without torch's C++ API" "${op}" -DCMAKE_CUDA_ARCHITECTURES=80 "-DCMAKE_CUDA_FLAGS=-t 8")
