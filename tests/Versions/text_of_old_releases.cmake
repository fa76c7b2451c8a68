# The text for releases that have no compatibility between minor versions. (pytorch#73047, pytorch#113550)
include("${CMAKE_CURRENT_LIST_DIR}/common/check.cmake")
_cudaops_use(match/verdict base/message)

_cudaops_verdict(v TOOLKIT 11.0.221 TORCH 1.10.0+cu113 TORCH_CUDA 11.3 TORCH_HIP "")
check_equal("action" "${v_ACTION}" STOP)
_cudaops_stop("${v_HEAD}" FACTS ${v_FACTS} FIX ${v_FIX})
