# The reference library, real compilers, 18 jobs asked for: nothing is killed in 4 GiB, nor in 1 GiB, where one CUDA source
# at a time fits. Two small ones of its libraries are built; the long run builds all of it.
real_machine()
if(NOT real_TORCH)
  return()
endif()
set(targets vector_add sum)
if(case_LONG)
  set(targets cudaops_examples cudaops_kernels)
endif()
foreach(limit IN ITEMS 4096 1024)
  box(${limit})
  case_step(
    configure
    COMMAND
      ${box_RUN} "${case_CMAKE}" -S "${case_REPO}" -B "${case_BUILD_DIR}" -G Ninja ${case_ARGS} ${jobs_LENT}
      -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CUDA_ARCHITECTURES=80-real\\;90-real\\;100-real" -DCUDAOPS_BUILD_KERNELS=ON
      -DCUDAOPS_CACHE=OFF -DBUILD_TESTING=OFF
  )
  # A kernel of one architecture among those of three is a light file.
  set(jobs "([2-9]|[1-9] heavy and [1-9] light) CUDA jobs")
  set(said_4096 "${jobs}(, [1-9] C\\+\\+ jobs?)? at a time: (3\\.9|4\\.0)")
  set(said_1024 "1 CUDA job.* at a time: (0\\.9|1\\.0)")
  expect_stdout(
    "CudaOps: ${said_${limit}} GiB free \\(cgroup\\), 1\\.[05] GiB a (heavy )?file \\([a-z_]+\\.cu without torch's C\\+\\+ API, [23] nvcc threads\\)"
  )
  case_step(
    build
    COMMAND ${box_RUN} "${case_CMAKE}" --build "${case_BUILD_DIR}" --target ${targets} --clean-first -j18
  )
endforeach()
