# A glibc whose headers the toolkit can't compile: both versions and the ways out. (extension-cpp#122)
include("${CMAKE_CURRENT_LIST_DIR}/../Versions/common/check.cmake")
_cudaops_use(facts/host_compiler base/message)

_cudaops_glibc_check(e GLIBC 2.41 BOUND 2.41 TOOLKIT 12.8.93 TOOLKIT_ROOT /usr/local/cuda-12.8)
check_equal(
  "sentence"
  "${e_ERROR}"
  "CUDA 12.8.93 can't compile against glibc 2.41: both declare sinpi and cospi, and differently."
)
_cudaops_stop("${e_HEAD}" FACTS ${e_FACTS} FIX ${e_FIX})
