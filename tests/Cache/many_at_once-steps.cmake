# 32 compiles of one file at once on an empty cache. (pytorch#46334)
real_machine()
if(NOT real_TORCH)
  return()
endif()
use_cache(ccache)
file(WRITE "${case_DIR}/src/one.cpp" "int one() { return 1; }\n")
configure("cudaops_add_kernels(any SHARED SOURCES op.cu one.cpp)" ARGS -DCMAKE_CUDA_ARCHITECTURES=80)
case_step(
  race
  COMMAND "${case_PYTHON}" "${case_SUITE}/common/race.py" "${case_REPO}" "${case_BUILD_DIR}" "${case_DIR}/race" 32
)
