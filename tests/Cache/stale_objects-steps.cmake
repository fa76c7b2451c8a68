# Every change that a compiler cache is known to miss, and each variable that the compilers read: the object is the one
# that the compiler makes. With ccache; stale_objects_sccache has the other one.
real_machine()
if(NOT real_TORCH)
  return()
endif()
use_cache(ccache)
file(WRITE "${case_DIR}/src/one.cpp" "int one() { return 1; }\n")
configure("cudaops_add_kernels(any SHARED SOURCES op.cu one.cpp)" ARGS -DCMAKE_CUDA_ARCHITECTURES=80)
stale_table()
