# What a file is taken for: by its includes and those of the project's headers, times the architectures that nvcc compiles
# at once; by what it took, once it was built.
machine(CUDA)
lent(small LIMIT 4096 USED 100)

# expect_size(<GiB> <why> <include>...): of k1.cu, the only one that isn't light.
function(expect_size gib why)
  sources(cu 1 1 ${ARGN})
  configure("${ops}" ARGS ${jobs_LENT} ${jobs_ARCHS})
  string(REPLACE "." "\\." regex "${gib} GiB a file (k1.cu ${why})")
  string(REPLACE "(" "\\(" regex "${regex}")
  string(REPLACE ")" "\\)" regex "${regex}")
  expect_stdout(", ${regex}, 16 cores")
endfunction()

sources(cu 1 40)
set(names "")
foreach(i RANGE 2 40)
  list(APPEND names "k${i}.cu")
endforeach()
list(JOIN names " " names)
set(ops "add_torch_op(my_op ABI FULL CUDA_SOURCES k1.cu ${names})\ntarget_include_directories(my_op PRIVATE include)")
expect_size(0.2 "includes nothing large" "<cuda_fp16.h>" "\"absent.h\"")
expect_size(0.5 "includes cub/block/block_reduce.cuh" "<cub/block/block_reduce.cuh>")
expect_size(0.5 "includes torch/csrc/stable/tensor.h" "<torch/csrc/stable/tensor.h>" "<cuda_fp16.h>")
expect_size(0.7 "includes c10/cuda/CUDAStream.h" "<c10/cuda/CUDAStream.h>" "<cub/block/block_reduce.cuh>")
expect_size(0.8 "includes cub/cub.cuh" "<cub/cub.cuh>")
expect_size(1.5 "includes ATen/ATen.h" "<cub/cub.cuh>" "<ATen/ATen.h>" "<c10/util/Exception.h>")
expect_size(2.9 "includes torch/extension.h" "<torch/extension.h>")

# Through headers of the project, which include each other; one outside of it is as good as unknown.
file(WRITE "${case_DIR}/src/include/a/first.h" "#pragma once\n#include \"second.h\"\n#include <a/third.h>\n")
file(WRITE "${case_DIR}/src/include/a/second.h" "#pragma once\n#  include <a/first.h>\n")
file(WRITE "${case_DIR}/src/include/a/third.h" "#include \"../../k1.cu\"\n #include <thrust/sort.h>\n")
expect_size(0.8 "includes thrust/sort.h" "<a/first.h>")
file(WRITE "${case_DIR}/elsewhere/far.h" "#include <torch/extension.h>\n")
expect_size(0.2 "includes nothing large" "\"../../elsewhere/far.h\"")

list(FILTER case_ARGS EXCLUDE REGEX "CUDA_ARCHITECTURES")
# Each architecture that nvcc compiles at once takes as much again.
set(jobs_ARCHS "-DCMAKE_CUDA_ARCHITECTURES=80\\;90\\;100")
expect_size(2.3 "includes cub/cub.cuh, 3 nvcc threads" "<cub/cub.cuh>")
set(jobs_ARCHS "-DCMAKE_CUDA_ARCHITECTURES=80\\;90\\;100" "-DCMAKE_CUDA_FLAGS=--threads 2")
expect_size(1.6 "includes cub/cub.cuh, 2 nvcc threads" "<cub/cub.cuh>")
set(jobs_ARCHS -DCMAKE_CUDA_ARCHITECTURES=80 "-DCMAKE_CUDA_FLAGS=-t 8")
expect_size(0.8 "includes cub/cub.cuh" "<cub/cub.cuh>")
