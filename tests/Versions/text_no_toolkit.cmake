# The text where there is no toolkit. (pytorch#73047, pytorch#113550)
include("${CMAKE_CURRENT_LIST_DIR}/common/check.cmake")
_cudaops_use(match/verdict base/message)

_cudaops_verdict(v TOOLKIT "" TORCH 2.15.0+cu132 TORCH_CUDA 13.2 TORCH_HIP "")
_cudaops_stop("${v_HEAD}" FACTS ${v_FACTS} FIX ${v_FIX})
