# The package without its folder accelerate/: the same library comes out, and what is said about speed is accepted and
# means nothing. CUDAOPS_TEST_LONG=1 runs the suites of the core with such a package, too.
file(COPY "${case_REPO}/cmake" "${case_REPO}/python" DESTINATION "${case_DIR}/core")
file(REMOVE_RECURSE "${case_DIR}/core/cmake/accelerate")
set(
  body
  "include(\"\${CudaOps_DIR}/CudaOpsSeed.cmake\")
find_package(CudaTorchMatch REQUIRED)
file(WRITE \"\${CMAKE_BINARY_DIR}/one.cu\" \"__global__ void one() {}\\n\")
add_torch_op(package_op CUDA_CUBINS SOURCES op.cpp CUDA_SOURCES \"\${CMAKE_BINARY_DIR}/one.cu\")
add_library(plain SHARED op.cpp)
cudaops_target_torch(plain)
cudaops_target_defaults(plain)
cudaops_target_cache(plain)
cudaops_target_build_trace(plain PHASES)"
)
consumer(
  HEAD "set(CudaOps_DIR [==[${case_DIR}/core/cmake]==])"
  BODY "${body}"
  ARGS -DCUDAOPS_CACHE=ccache -DCUDAOPS_PRECOMPILE=ON -DCUDAOPS_BUILD_TRACE=ON -DCUDAOPS_SEED_COMPILERS=ON
)
case_report_equal(package_op ops 0 name)
case_report_equal(CPU_ONLY ops 0 state)
file(READ "${case_BUILD_DIR}/cudaops-report.json" report)
case_not_match("the report" "${report}" "\"cache\"|\"jobs\"|ccache")
file(GLOB_RECURSE files "${case_BUILD_DIR}/build.ninja" "${case_BUILD_DIR}/*.make")
foreach(file IN LISTS files)
  file(READ "${file}" build)
  case_not_match("the commands in ${file}" "${build}" "ccache|cache_launcher|build_trace|cubins|precompile")
endforeach()
if(files STREQUAL "")
  case_fail("no build file was looked at")
endif()
