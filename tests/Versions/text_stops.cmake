# The text that stops: both versions, where each came from, the rule, the ways out. (pytorch#73047, pytorch#113550)
include("${CMAKE_CURRENT_LIST_DIR}/common/check.cmake")
_cudaops_use(match/verdict base/message)

_cudaops_verdict(
  v
  TOOLKIT 13.0.88
  TOOLKIT_SOURCE "/usr/local/cuda (PATH)"
  TORCH 2.10.0+cu128
  TORCH_CUDA 12.8
  TORCH_HIP ""
  TORCH_SOURCE "/opt/venv/bin/python (Python_EXECUTABLE)"
  CANDIDATES
    "11.5.119|MISMATCH|/usr (PATH)"
    "12.8.93|broken: no cicc|/opt/cuda-12.8 (CUDA_HOME=:/opt/cuda-12.8;)"
    "|no toolkit there|/opt/a[b (CUDA_PATH)"
)
check_equal("action" "${v_ACTION}" STOP)
_cudaops_stop("${v_HEAD}" FACTS ${v_FACTS} FIX ${v_FIX})
