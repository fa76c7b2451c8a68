# SPDX-License-Identifier: Apache-2.0
# The verdict of match/verdict for a torch that was built for ROCm. Pure.

_cudaops_use(match/verdict)

# _cudaops_verdict_rocm(<out-prefix>
#   ROCM <version> [ROCM_SOURCE <text>] TORCH <version> TORCH_HIP <version> [TORCH_SOURCE <text>]
#   [POLICY STRICT|COMPATIBLE|WARN] [COMPATIBLE_VERSIONS <text>] [CANDIDATES <version>|<verdict or problem>|<place>...])
#
# The same for a torch that was built for ROCm. HIP's runtime carries its major version in the name of its library
# (libamdhip64.so.6), and inside one major a newer one serves what was built for an older: that is the rule. Verdicts:
# EXACT, COMPATIBLE, MISMATCH, ROCM_TORCH where there is no ROCm to compare with.
function(_cudaops_verdict_rocm prefix)
  cmake_parse_arguments(
    PARSE_ARGV 1
    arg
    ""
    "ROCM;ROCM_SOURCE;TORCH;TORCH_HIP;TORCH_SOURCE;POLICY;COMPATIBLE_VERSIONS"
    "CANDIDATES"
  )
  set(policy "${arg_POLICY}")
  if(policy STREQUAL "")
    set(policy COMPATIBLE)
  endif()
  set(declared "")
  _cudaops_verdict_pairs("${arg_COMPATIBLE_VERSIONS}" pairs)
  string(REGEX MATCH "^0*([0-9]+)\\.0*([0-9]+)" rocm "${arg_ROCM}")
  set(rocm_major "${CMAKE_MATCH_1}")
  string(REGEX MATCH "^0*([0-9]+)\\.0*([0-9]+)" hip "${arg_TORCH_HIP}")
  set(hip_major "${CMAKE_MATCH_1}")

  if("${rocm}:${hip}" IN_LIST pairs_FIT)
    set(declared FIT)
  elseif("${rocm}:${hip}" IN_LIST pairs_UNFIT)
    set(declared UNFIT)
  endif()
  set(rule "ROCm's releases fit each other inside one major")
  set(rocm_fix "-DROCm_ROOT=<dir>   (ROCm ${hip_major}, best ${hip})")
  set(torch_fix "-DPython_EXECUTABLE=<python>   (one with a torch for ROCm ${rocm_major})")
  set(policy_fix "")
  set(HEAD "")
  set(REASON "")
  if(rocm STREQUAL "")
    set(VERDICT ROCM_TORCH)
    set(HEAD "no ROCm was found.")
    set(REASON "torch ${arg_TORCH} was built with HIP ${arg_TORCH_HIP}, and no HIP compiler was found")
    set(rule "")
    set(rocm_fix "install ROCm ${hip_major}, best ${hip} (rocm-llvm, hip-dev, rocm-device-libs), or -DROCm_ROOT=<dir>")
    set(torch_fix "")
  elseif(declared STREQUAL "UNFIT")
    set(VERDICT MISMATCH)
    set(HEAD "this ROCm does not fit this torch.")
    set(REASON "ROCm ${rocm} and torch's HIP ${hip} are declared not to fit by CUDAOPS_COMPATIBLE_VERSIONS")
    set(rule "CUDAOPS_COMPATIBLE_VERSIONS holds !${rocm}:${hip}")
    set(rocm_fix "-DROCm_ROOT=<dir>   (another ROCm ${hip_major})")
    set(torch_fix "-DPython_EXECUTABLE=<python>   (one with another torch)")
    set(
      policy_fix
      "-DCUDAOPS_VERSION_POLICY=WARN   (uses this pair, at your own risk)"
      "-DCUDAOPS_BACKEND=CPU   (builds without HIP)"
    )
  elseif(rocm STREQUAL hip)
    set(VERDICT EXACT)
  elseif(declared STREQUAL "FIT" OR rocm_major STREQUAL hip_major)
    set(VERDICT COMPATIBLE)
    set(HEAD "CUDAOPS_VERSION_POLICY=STRICT accepts only a ROCm of torch's own version.")
    set(REASON "ROCm ${rocm} and torch's HIP ${hip} differ in the minor version, which is fine inside one major")
    if(declared STREQUAL "FIT")
      set(REASON "ROCm ${rocm} and torch's HIP ${hip} are declared to fit by CUDAOPS_COMPATIBLE_VERSIONS")
    endif()
    set(rule "CUDAOPS_VERSION_POLICY=STRICT: the same major.minor")
    set(rocm_fix "-DROCm_ROOT=<dir>   (ROCm ${hip})")
    set(torch_fix "-DPython_EXECUTABLE=<python>   (one with a torch for ROCm ${rocm})")
    set(policy_fix "-DCUDAOPS_VERSION_POLICY=COMPATIBLE   (accepts another minor version of the same major)")
  else()
    set(VERDICT MISMATCH)
    set(HEAD "ROCm and torch must be of one major version.")
    set(REASON "ROCm ${rocm} and torch's HIP ${hip} are of different major versions")
    set(
      policy_fix
      "-DCUDAOPS_VERSION_POLICY=WARN   (uses this pair, at your own risk)"
      "-DCUDAOPS_BACKEND=CPU   (builds without HIP)"
    )
  endif()
  string(PREPEND HEAD "find_package(CudaTorchMatch): ")

  _cudaops_verdict_action("${VERDICT}" "${policy}" "${declared}" ACTION FITS RANK)
  set(found "none was found")
  if(rocm)
    set(found "${arg_ROCM}: ${arg_ROCM_SOURCE}")
  endif()
  set(torch "${arg_TORCH}, built with HIP ${arg_TORCH_HIP}: ${arg_TORCH_SOURCE}")
  string(REPLACE ";" "\\;" found "${found}")
  string(REPLACE ";" "\\;" torch "${torch}")
  set(FACTS "ROCm   ${found}" "torch  ${torch}")
  if(rule)
    list(APPEND FACTS "rule   ${rule}")
  endif()
  _cudaops_verdict_others(FACTS "others " ${arg_CANDIDATES})
  set(FIX "${rocm_fix}" ${torch_fix} ${policy_fix})
  set(names "VERDICT;ACTION;FITS;RANK;REASON;HEAD;FACTS;FIX")
  foreach(name IN LISTS names)
    set(${prefix}_${name} "${${name}}" PARENT_SCOPE)
  endforeach()
endfunction()
