# With the override the text is the same, as a warning. (pytorch#73047, pytorch#113550)
include("${CMAKE_CURRENT_LIST_DIR}/common/check.cmake")
_cudaops_use(match/verdict base/message)

foreach(policy IN ITEMS STRICT COMPATIBLE WARN)
  _cudaops_verdict(
    ${policy}
    TOOLKIT 12.8.93
    TOOLKIT_SOURCE "/opt/cuda (CUDACXX)"
    TORCH 2.13.0+cu130
    TORCH_CUDA 13.0
    TORCH_HIP ""
    POLICY ${policy}
  )
  check_equal("head under ${policy}" "${${policy}_HEAD}" "${STRICT_HEAD}")
  check_equal("facts under ${policy}" "${${policy}_FACTS}" "${STRICT_FACTS}")
  check_equal("cures under ${policy}" "${${policy}_FIX}" "${STRICT_FIX}")
endforeach()
check_equal("action" "${WARN_ACTION}" WARN)
_cudaops_warn("${WARN_HEAD}" FACTS ${WARN_FACTS} FIX ${WARN_FIX})
