# CUDAOPS_COMPATIBLE_VERSIONS: what the user declares comes before the rule, either way.
include("${CMAKE_CURRENT_LIST_DIR}/common/check.cmake")
_cudaops_use(match/verdict)

# text | fit | unfit | error
function(parses text fit unfit)
  _cudaops_verdict_pairs("${text}" p)
  check_equal("[${text}]" "${p_FIT}|${p_UNFIT}|${p_ERROR}" "${fit}|${unfit}|")
endfunction()
function(refused text word)
  _cudaops_verdict_pairs("${text}" p)
  check_equal("[${text}] gives nothing" "${p_FIT}|${p_UNFIT}" "|")
  check_match("[${text}]" "${p_ERROR}" "^CUDAOPS_COMPATIBLE_VERSIONS (holds|names) ${word}[^\n]*\\.$")
endfunction()
parses("" "" "")
parses(";; ;" "" "")
parses("12.1:12.4" "12.1:12.4" "")
parses("12.1:12.4;!13.0:13.2" "12.1:12.4" "13.0:13.2")
parses(" 12.1 : 12.4 ;\n! 13.0:13.2;" "12.1:12.4" "13.0:13.2")
parses("012.01:12.4;12.10:12.4;0.0:12.0" "12.1:12.4;12.10:12.4;0.0:12.0" "")
parses("12.1:12.4;12.1:12.4" "12.1:12.4;12.1:12.4" "")
refused("12.1" "'12\\.1'")
refused("12:13" "'12:13'")
refused("12.1.105:12.4" "'12\\.1\\.105:12\\.4'")
refused("12.1:12.4;junk" "'junk'")
refused("12.1:12.4:13.0" "'12\\.1:12\\.4:13\\.0'")
refused("!!13.0:13.2" "'!!13\\.0:13\\.2'")
refused("12.1:12.4,13.0:13.2" "'12\\.1:12\\.4,13\\.0:13\\.2'")
refused("12.1:12.4;!12.1:12.4" "12\\.1:12\\.4 both with and without '!'")
refused("[12.1:12.4;13.0:13.2" "'\\?12\\.1:12\\.4'")
refused("12.1:12.4\\;13.0:13.2" "'12\\.1:12\\.4\\?'")

# text | toolkit | torch's CUDA | policy | verdict and action
set(
  table
  "12.8:13.0|12.8|13.0|COMPATIBLE|COMPATIBLE STATUS"
  "12.8:13.0|12.8.93|13.0|STRICT|COMPATIBLE STATUS"
  "12.1:12.4|12.1|12.4|STRICT|COMPATIBLE STATUS"
  "12.1:12.4|12.4|12.1|STRICT|COMPATIBLE STOP"
  "11.0:11.3|11.0|11.3|COMPATIBLE|COMPATIBLE STATUS"
  "13.0:13.0|13.0|13.0|STRICT|EXACT PASS"
  "!13.0:13.2|13.0.88|13.2|COMPATIBLE|MISMATCH STOP"
  "!13.0:13.2|13.0.88|13.2|STRICT|MISMATCH STOP"
  "!13.0:13.2|13.0.88|13.2|WARN|MISMATCH WARN"
  "!13.0:13.2|13.2|13.0|COMPATIBLE|COMPATIBLE STATUS"
  "!13.0:13.0|13.0|13.0|COMPATIBLE|MISMATCH STOP"
)
foreach(row IN LISTS table)
  string(REPLACE "|" ";" cells "${row}")
  list(
    POP_FRONT cells
    pairs
    toolkit
    cuda
    policy
    expected
  )
  _cudaops_verdict(
    v
    TOOLKIT ${toolkit}
    TORCH 2.10.0
    TORCH_CUDA ${cuda}
    TORCH_HIP ""
    POLICY ${policy}
    COMPATIBLE_VERSIONS "12.6:9.0;${pairs}"
  )
  check_equal("${row}" "${v_VERDICT} ${v_ACTION} ${v_ERROR}" "${expected} ")
  if(NOT v_VERDICT STREQUAL "EXACT" AND NOT v_ACTION STREQUAL "STOP")
    if(NOT row MATCHES "13.2\\|13.0")
      check_match("${row}: reason" "${v_REASON}" "CUDAOPS_COMPATIBLE_VERSIONS")
    endif()
  endif()
endforeach()

# Malformed input is refused in one sentence, whatever it is.
_cudaops_verdict(v TOOLKIT 13.0 TORCH 2.10.0 TORCH_CUDA 13.0 TORCH_HIP "" COMPATIBLE_VERSIONS "13")
check_equal("pairs" "${v_VERDICT}|${v_ACTION}|${v_ERROR}"
  "|STOP|CUDAOPS_COMPATIBLE_VERSIONS holds '13', which is not <toolkit>:<torch's CUDA> such as 12.1:12.4 or !13.0:13.2."
)
_cudaops_verdict(v TOOLKIT 13.0 TORCH 2.10.0 TORCH_CUDA 13.0 TORCH_HIP "" POLICY strict)
check_equal("policy" "${v_VERDICT}|${v_ACTION}|${v_ERROR}"
  "|STOP|CUDAOPS_VERSION_POLICY is 'strict'; it must be STRICT, COMPATIBLE or WARN."
)
foreach(
  version
  IN
  ITEMS 13 13. .1 V13.0 13.0a "13.0 " "13;0" -1.0
)
  _cudaops_verdict(v TOOLKIT "${version}" TORCH 2.10.0 TORCH_CUDA 13.0 TORCH_HIP "")
  check_equal("toolkit" "${v_VERDICT}|${v_ACTION}|${v_ERROR}" "|STOP|The toolkit's version '${version}' can't be read.")
  _cudaops_verdict(v TOOLKIT 13.0 TORCH 2.10.0 TORCH_CUDA "${version}" TORCH_HIP "")
  check_equal("torch's CUDA" "${v_VERDICT}|${v_ACTION}|${v_ERROR}"
    "|STOP|The CUDA version of torch, '${version}', can't be read."
  )
endforeach()
_cudaops_verdict(v TOOLKIT 13.0 TORCH "main" TORCH_CUDA 13.0 TORCH_HIP "")
check_equal("torch" "${v_VERDICT}|${v_ACTION}|${v_ERROR}" "|STOP|Torch's version 'main' can't be read.")
