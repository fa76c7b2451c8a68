# Random edits, each compared with a compile without the cache.
real_machine()
if(NOT real_TORCH)
  return()
endif()
use_cache(ccache)
configure("cudaops_add_kernels(any SHARED SOURCES op.cu)" ARGS -DCMAKE_CUDA_ARCHITECTURES=80)
set(rounds 7)
if(case_LONG)
  set(rounds 200)
endif()
case_step(
  "random edits"
  COMMAND
    "${case_PYTHON}" "${case_SUITE}/common/random_edits.py" "${case_REPO}" "${case_BUILD_DIR}" "${case_DIR}/edits"
    ${rounds}
)
