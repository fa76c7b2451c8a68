# The reference library, real compilers, 18 jobs asked for: nothing is killed in 4 GiB, where all of it fits, nor in 1 GiB,
# where it doesn't.
real_machine()
if(NOT real_TORCH)
  return()
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
  if(limit EQUAL 4096)
    refuse_stdout("at a time")
  else()
    expect_stdout(
      "CudaOps: 1 CUDA job.* at a time: (0\\.9|1\\.0) GiB free \\(cgroup\\), 0\\.[57] GiB a file \\([a-z_]+\\.cu includes nothing large, [23] nvcc threads\\)"
    )
  endif()
  case_step(
    build
    COMMAND ${box_RUN} "${case_CMAKE}" --build "${case_BUILD_DIR}" --target cudaops_examples --clean-first -j18
  )
endforeach()
