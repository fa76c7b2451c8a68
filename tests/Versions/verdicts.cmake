# Every pair of the table, what each policy makes of it, and the rank that chooses among toolkits.
# (pytorch#73047, pytorch#113550)
include("${CMAKE_CURRENT_LIST_DIR}/common/check.cmake")
_cudaops_use(match/verdict)

# toolkit, torch's CUDA, verdict, action under STRICT, COMPATIBLE, WARN
set(
  table
  "11.3 11.3 EXACT PASS PASS PASS"
  "13.0.88 13.0 EXACT PASS PASS PASS"
  "13.2.51 13.2.0 EXACT PASS PASS PASS"
  "013.0 13.00 EXACT PASS PASS PASS"
  "10.1 10.1 EXACT PASS PASS PASS"
  "11.8 11.7 COMPATIBLE STOP STATUS STATUS"
  "11.2 11.3 COMPATIBLE STOP STATUS STATUS"
  "12.8 12.4 COMPATIBLE STOP STATUS STATUS"
  "13.0 13.2 COMPATIBLE STOP STATUS STATUS"
  "12.10 12.9 COMPATIBLE STOP STATUS STATUS"
  "11.1 11.8 COMPATIBLE STOP STATUS STATUS"
  "11.8 12.4 MISMATCH STOP STOP WARN"
  "10.1 11.3 MISMATCH STOP STOP WARN"
  "12.1 11.3 MISMATCH STOP STOP WARN"
  "13.0 12.8 MISMATCH STOP STOP WARN"
  "12.8 13.0 MISMATCH STOP STOP WARN"
  # Before 11.1 nothing is promised between minor versions.
  "11.0 11.3 MISMATCH STOP STOP WARN"
  "11.3 11.0 MISMATCH STOP STOP WARN"
  "10.0 10.1 MISMATCH STOP STOP WARN"
  # 1.3 and 13: versions are never compared as text.
  "1.3 13.0 MISMATCH STOP STOP WARN"
)
set(rank_EXACT 3)
set(rank_COMPATIBLE 2)
set(rank_MISMATCH 1)
set(fits_EXACT_PASS TRUE)
set(fits_COMPATIBLE_STATUS TRUE)
set(fits_COMPATIBLE_STOP FALSE)
set(fits_MISMATCH_STOP FALSE)
set(fits_MISMATCH_WARN FALSE)
foreach(row IN LISTS table)
  string(REPLACE " " ";" cells "${row}")
  list(
    POP_FRONT cells
    toolkit
    cuda
    verdict
    STRICT
    COMPATIBLE
    WARN
  )
  foreach(policy IN ITEMS STRICT COMPATIBLE WARN)
    _cudaops_verdict(v TOOLKIT ${toolkit} TORCH 2.10.0 TORCH_CUDA ${cuda} TORCH_HIP "" POLICY ${policy})
    check_equal("${row} under ${policy}" "${v_VERDICT} ${v_ACTION} ${v_RANK} ${v_ERROR}"
      "${verdict} ${${policy}} ${rank_${verdict}} "
    )
    check_equal("${row} under ${policy}: fits" "${v_FITS}" "${fits_${verdict}_${${policy}}}")
    if(verdict STREQUAL "EXACT")
      check_equal("${row}: nothing to say" "${v_REASON}${v_HEAD}${v_FACTS}${v_FIX}" "")
    else()
      check_match("${row}: reason" "${v_REASON}" "^[^;\n]+[^.]$")
      check_match("${row}: head" "${v_HEAD}" "^find_package\\(CudaTorchMatch\\): [^;\n]+\\.$")
      check_match("${row}: both versions" "${v_FACTS}" "^toolkit  CUDA ${toolkit};torch    2\\.10\\.0, built with CUDA ")
    endif()
  endforeach()
endforeach()
# COMPATIBLE is the default.
_cudaops_verdict(v TOOLKIT 13.0 TORCH 2.15.0 TORCH_CUDA 13.2 TORCH_HIP "")
check_equal("no policy" "${v_VERDICT} ${v_ACTION}" "COMPATIBLE STATUS")

# What leaves CUDA off is told; whether it stops, the caller decides. The toolkit plays no part in the first three.
foreach(toolkit IN ITEMS "" 13.0.88)
  _cudaops_verdict(v TOOLKIT "${toolkit}" TORCH "" TORCH_CUDA "" TORCH_HIP "")
  check_equal("no torch, toolkit [${toolkit}]" "${v_VERDICT} ${v_ACTION} ${v_RANK}" "NO_TORCH STATUS 0")
  _cudaops_verdict(v TOOLKIT "${toolkit}" TORCH 2.10.0+cpu TORCH_CUDA "" TORCH_HIP "")
  check_equal("CPU torch, toolkit [${toolkit}]" "${v_VERDICT} ${v_ACTION} ${v_RANK}" "CPU_TORCH STATUS 0")
  check_equal("CPU torch: reason" "${v_REASON}" "torch 2.10.0+cpu was built without CUDA")
  _cudaops_verdict(v TOOLKIT "${toolkit}" TORCH 2.10.0+rocm6.4 TORCH_CUDA "" TORCH_HIP 6.4.43482-0f2d)
  check_equal("ROCm torch, toolkit [${toolkit}]" "${v_VERDICT} ${v_ACTION} ${v_RANK}" "ROCM_TORCH STATUS 0")
  check_equal("ROCm torch: reason" "${v_REASON}" "torch 2.10.0+rocm6.4 was built with HIP 6.4.43482-0f2d")
endforeach()
_cudaops_verdict(v TOOLKIT "" TORCH 2.13.0 TORCH_CUDA 13.0 TORCH_HIP "")
check_equal("no toolkit" "${v_VERDICT} ${v_ACTION} ${v_RANK} ${v_REASON}" "NO_TOOLKIT STATUS 0 no CUDA toolkit was found")
check_match("no toolkit: wheels bring it" "${v_FIX}" ";-DCUDAOPS_PROVIDE=TOOLKIT   \\(brings CUDA 13\\.0 ")
_cudaops_verdict(v TOOLKIT "" TORCH 2.10.0 TORCH_CUDA 12.8 TORCH_HIP "")
check_match("no toolkit: wheels can't bring it" "${v_FIX}" "CUDAOPS_PROVIDE=TOOLKIT can't bring CUDA 12\\.8: wheels before CUDA 13 hold no compiler")

# A variable of the caller's that is named like one of the function's inputs changes nothing.
set(arg_TORCH 9.9)
set(pairs_FIT "12.8:13.0")
set(declared FIT)
_cudaops_verdict(v TOOLKIT 12.8 TORCH "" TORCH_CUDA "" TORCH_HIP "")
check_equal("caller's arg_TORCH" "${v_VERDICT}" NO_TORCH)
_cudaops_verdict(v TOOLKIT 12.8 TORCH 2.13 TORCH_CUDA 13.0 TORCH_HIP "")
check_equal("caller's pairs_FIT" "${v_VERDICT}" MISMATCH)
