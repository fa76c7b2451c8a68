# A glibc that declares rsqrt() otherwise than the toolkit: both versions and the ways out. (extension-cpp#122)
include("${CMAKE_CURRENT_LIST_DIR}/../Versions/common/check.cmake")
_cudaops_use(facts/host_compiler base/message)

_cudaops_glibc_check(e GLIBC 2.43 BOUND 2.42 TOOLKIT 13.0.88 HEADER /opt/cuda/include/crt/math_functions.h)
_cudaops_stop("${e_HEAD}" FACTS ${e_FACTS} FIX ${e_FIX})
