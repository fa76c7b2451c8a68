# The reference library, real compilers, 4 GiB, 18 jobs asked for: nothing is killed.
real_machine()
if(NOT real_TORCH)
  return()
endif()
box(4096)
case_step(
  configure
  COMMAND
    ${box_RUN} "${case_CMAKE}" -S "${case_REPO}" -B "${case_BUILD_DIR}" -G Ninja ${case_ARGS} ${jobs_LENT}
    -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CUDA_ARCHITECTURES=80-real\\;90-real\\;100-real" -DCUDAOPS_BUILD_KERNELS=ON
    -DCUDAOPS_CACHE=OFF -DBUILD_TESTING=OFF
)
expect_stdout("CudaOps: [1-9]+ CUDA jobs?.* at a time: (3\\.9|4\\.0) GiB free \\(cgroup\\)")
case_step(build COMMAND ${box_RUN} "${case_CMAKE}" --build "${case_BUILD_DIR}" --target cudaops_examples -j18)
