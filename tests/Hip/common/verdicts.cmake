# (ROCm, torch's HIP, policy, declared pairs) -> verdict and what follows.
include("${case_REPO}/cmake/detail/base/use.cmake")
_cudaops_use(match/verdict_rocm)

foreach(
  row
  IN
  ITEMS
    "6.4.43482|6.4.43482-0f2d60242||>EXACT PASS"
    "6.4.1|6.4||>EXACT PASS"
    "6.2.41133|6.4.43482-0f2d60242||>COMPATIBLE STATUS"
    "6.4.43482|6.0.32831||>COMPATIBLE STATUS"
    "7.1.25424|7.10.26000||>COMPATIBLE STATUS"
    "7.10.26000|7.10.26001||>EXACT PASS"
    "5.7.31921|6.4.43482||>MISMATCH STOP"
    "7.0.51831|6.4.43482||>MISMATCH STOP"
    "7.0.51831|6.4.43482|WARN|>MISMATCH WARN"
    "6.2.41133|6.4.43482|STRICT|>COMPATIBLE STOP"
    "6.2.41133|6.4.43482|WARN|>COMPATIBLE STATUS"
    "6.4.43482|6.4.43482|STRICT|>EXACT PASS"
    "5.7.31921|6.4.43482||5.7:6.4>COMPATIBLE STATUS"
    "5.7.31921|6.4.43482|STRICT|5.7:6.4>COMPATIBLE STATUS"
    "6.4.43482|6.4.43482||!6.4:6.4>MISMATCH STOP"
    "|6.4.43482||>ROCM_TORCH STATUS"
)
  if(NOT row MATCHES "^([^|]*)\\|([^|]*)\\|([^|]*)\\|([^>]*)>(.*) (.*)$")
    message(FATAL_ERROR "${row}")
  endif()
  set(verdict "${CMAKE_MATCH_5}")
  set(action "${CMAKE_MATCH_6}")
  _cudaops_verdict_rocm(
    judged
    ROCM "${CMAKE_MATCH_1}"
    ROCM_SOURCE "/opt/rocm (PATH)"
    TORCH 2.13.0+rocm6.4
    TORCH_HIP "${CMAKE_MATCH_2}"
    TORCH_SOURCE python
    POLICY "${CMAKE_MATCH_3}"
    COMPATIBLE_VERSIONS "${CMAKE_MATCH_4}"
  )
  if(NOT judged_VERDICT STREQUAL verdict OR NOT judged_ACTION STREQUAL action)
    message(FATAL_ERROR "${row}: got ${judged_VERDICT} ${judged_ACTION}")
  endif()
endforeach()
message(STATUS "all as expected")
