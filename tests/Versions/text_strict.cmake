# The text of STRICT. (pytorch#73047, pytorch#113550)
include("${CMAKE_CURRENT_LIST_DIR}/common/check.cmake")
_cudaops_use(match/verdict base/message)

_cudaops_verdict(v TOOLKIT 13.0.88 TORCH 2.15.0+cu132 TORCH_CUDA 13.2 TORCH_HIP "" POLICY STRICT)
check_equal("action" "${v_ACTION}" STOP)
_cudaops_stop("${v_HEAD}" FACTS ${v_FACTS} FIX ${v_FIX})
