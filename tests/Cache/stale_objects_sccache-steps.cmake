# The table of wrong objects with sccache.
real_machine()
if(NOT real_TORCH)
  return()
endif()
use_cache(sccache)
file(WRITE "${case_DIR}/src/one.cpp" "int one() { return 1; }\n")
configure("cudaops_add_kernels(any SHARED SOURCES op.cu one.cpp)" ARGS -DCMAKE_CUDA_ARCHITECTURES=80 -DCUDAOPS_CACHE=sccache)
stale_table()
