# SPDX-License-Identifier: Apache-2.0
# The verdict on a pair of CUDA toolkit and torch, or of ROCm and torch, what follows from it under a policy, and the
# text that says so.
# Pure: versions and texts in, verdict and texts out, so `cmake -P` can try every pair.
#
# The rule. CUDA's minor versions fit each other inside one major, from 11.1 on: that is what CUDA promises, and it is
# all that is used here, so there is no table to keep. 11.0 and everything older was made before the promise and fits
# itself only: 11.0 with 11.3 and 10.0 with 10.1 are mismatches.

# _cudaops_verdict_pairs(<text of CUDAOPS_COMPATIBLE_VERSIONS> <out-prefix>)
#
#   <text>  <toolkit>:<torch's CUDA>, such as 12.1:12.4, or !13.0:13.2 for a pair that does not fit; separated by
#           semicolons; each version is major.minor, because patch releases of CUDA never break a pair
#   _FIT, _UNFIT  the pairs, canonical; _ERROR one sentence, or empty
function(_cudaops_verdict_pairs text prefix)
  set(fit "")
  set(unfit "")
  set(error "")
  # An unbalanced bracket would join list elements, a backslash escape their separator: both are malformed anyway.
  string(REGEX REPLACE "[][\\]" "?" entries "${text}")
  foreach(entry IN LISTS entries)
    string(STRIP "${entry}" entry)
    if(entry STREQUAL "")
      continue()
    endif()
    if(entry MATCHES "^(!?)[ \t]*([0-9]+\\.[0-9]+)[ \t]*:[ \t]*([0-9]+\\.[0-9]+)$")
      set(pair "${CMAKE_MATCH_2}:${CMAKE_MATCH_3}")
      set(negated "${CMAKE_MATCH_1}")
      string(REGEX REPLACE "(^|[.:])0+([0-9])" "\\1\\2" pair "${pair}")
      if(negated STREQUAL "")
        list(APPEND fit "${pair}")
      else()
        list(APPEND unfit "${pair}")
      endif()
      if(pair IN_LIST fit AND pair IN_LIST unfit)
        set(error "CUDAOPS_COMPATIBLE_VERSIONS names ${pair} both with and without '!'.")
        break()
      endif()
    else()
      set(
        error
        "CUDAOPS_COMPATIBLE_VERSIONS holds '${entry}', which is not <toolkit>:<torch's CUDA> such as 12.1:12.4 or !13.0:13.2."
      )
      break()
    endif()
  endforeach()
  if(NOT error STREQUAL "")
    set(fit "")
    set(unfit "")
  endif()
  set(${prefix}_FIT "${fit}" PARENT_SCOPE)
  set(${prefix}_UNFIT "${unfit}" PARENT_SCOPE)
  set(${prefix}_ERROR "${error}" PARENT_SCOPE)
endfunction()

# _cudaops_verdict_table(<out-var> ROWS <cell>|<cell>|...)
#
# Rows as aligned lines, without trailing blanks.
function(_cudaops_verdict_table out)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ROWS")
  set(columns 0)
  foreach(row IN LISTS arg_ROWS)
    set(column 0)
    while(row MATCHES "^([^|]*)\\|(.*)$")
      set(row "${CMAKE_MATCH_2}")
      string(LENGTH "${CMAKE_MATCH_1}" length)
      if(column EQUAL columns)
        math(EXPR columns "${columns} + 1")
        set(width_${column} ${length})
      elseif(length GREATER width_${column})
        set(width_${column} ${length})
      endif()
      math(EXPR column "${column} + 1")
    endwhile()
  endforeach()
  set(lines "")
  foreach(row IN LISTS arg_ROWS)
    set(column 0)
    set(line "")
    while(row MATCHES "^([^|]*)\\|(.*)$")
      set(cell "${CMAKE_MATCH_1}")
      set(row "${CMAKE_MATCH_2}")
      string(LENGTH "${cell}" length)
      math(EXPR pad "${width_${column}} - ${length} + 2")
      string(REPEAT " " ${pad} pad)
      string(APPEND line "${cell}${pad}")
      math(EXPR column "${column} + 1")
    endwhile()
    string(APPEND line "${row}")
    string(REGEX REPLACE "[ \t]+$" "" line "${line}")
    string(REPLACE ";" "\\;" line "${line}")
    list(APPEND lines "${line}")
  endforeach()
  set(${out} "${lines}" PARENT_SCOPE)
endfunction()

# _cudaops_verdict_others(<list> <lead> [<row>...]): appends the table to a list of facts, <lead> before its first line.
function(_cudaops_verdict_others list lead)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "")
  set(facts "${${list}}")
  _cudaops_verdict_table(rows ROWS ${arg_UNPARSED_ARGUMENTS})
  foreach(row IN LISTS rows)
    string(REPLACE ";" "\\;" row "${row}")
    list(APPEND facts "${lead}${row}")
    string(REGEX REPLACE "." " " lead "${lead}")
  endforeach()
  set(${list} "${facts}" PARENT_SCOPE)
endfunction()

# _cudaops_verdict(<out-prefix>
#   TOOLKIT <version> [TOOLKIT_SOURCE <text>]
#   TORCH <version> TORCH_CUDA <version> TORCH_HIP <version> [TORCH_SOURCE <text>]
#   [POLICY STRICT|COMPATIBLE|WARN] [COMPATIBLE_VERSIONS <text>]
#   [CANDIDATES <version>|<verdict or problem>|<place>...])
#
#   TOOLKIT, TORCH       empty where there is none; TORCH_CUDA, TORCH_HIP as version.py has them
#   *_SOURCE             place and origin as a reader wants them: "/usr/local/cuda (PATH)"
#   COMPATIBLE_VERSIONS  the text of CUDAOPS_COMPATIBLE_VERSIONS, quoted
#   CANDIDATES           the other toolkits that were looked at, for the table
#
#   _VERDICT  EXACT COMPATIBLE MISMATCH CPU_TORCH ROCM_TORCH NO_TOOLKIT NO_TORCH
#   _ACTION   PASS | STATUS | WARN | STOP
#   _FITS     TRUE where the toolkit serves this torch under the policy, so that none has to be brought or preferred
#   _RANK     3 EXACT, 2 COMPATIBLE, 1 MISMATCH, 0 where the toolkit makes no difference: the greatest wins
#   _REASON   one sentence for reports and STATUS lines, without a full stop; empty for EXACT
#   _HEAD _FACTS _FIX  made for _cudaops_stop and _cudaops_warn; filled for every verdict but EXACT
#   _ERROR    one sentence where an input is malformed (an unknown policy, no version, a malformed pair); _VERDICT is
#             empty then and _ACTION is STOP
#
# Pairs of COMPATIBLE_VERSIONS come before the rule: a pair that is declared to fit is at least COMPATIBLE and passes
# STRICT too (a pair of one major says nothing else), a pair that is declared not to fit is a MISMATCH even where both
# versions are the same.
function(_cudaops_verdict prefix)
  cmake_parse_arguments(
    PARSE_ARGV 1
    arg
    ""
    "TOOLKIT;TOOLKIT_SOURCE;TORCH;TORCH_CUDA;TORCH_HIP;TORCH_SOURCE;POLICY;COMPATIBLE_VERSIONS"
    "CANDIDATES"
  )
  # A variable that isn't set here would be the caller's.
  set(names "VERDICT;ACTION;REASON;HEAD;FACTS;FIX;ERROR;pairs_FIT;pairs_UNFIT")
  foreach(name IN LISTS names)
    set(${name} "")
  endforeach()
  set(FITS FALSE)
  set(RANK 0)
  set(declared "")
  set(policy "${arg_POLICY}")
  if(policy STREQUAL "")
    set(policy COMPATIBLE)
  endif()

  # Malformed input first: a verdict on it would be a guess.
  if(NOT policy MATCHES "^(STRICT|COMPATIBLE|WARN)$")
    set(ERROR "CUDAOPS_VERSION_POLICY is '${policy}'; it must be STRICT, COMPATIBLE or WARN.")
  elseif(NOT "${arg_TOOLKIT}" MATCHES "^([0-9]+\\.[0-9]+(\\.[0-9]+)*)?$")
    set(ERROR "The toolkit's version '${arg_TOOLKIT}' can't be read.")
  elseif(NOT "${arg_TORCH}" MATCHES "^([0-9]+\\.[0-9]+[^; ]*)?$")
    set(ERROR "Torch's version '${arg_TORCH}' can't be read.")
  elseif(NOT "${arg_TORCH_CUDA}" MATCHES "^([0-9]+\\.[0-9]+(\\.[0-9]+)*)?$")
    set(ERROR "The CUDA version of torch, '${arg_TORCH_CUDA}', can't be read.")
  elseif(NOT "${arg_COMPATIBLE_VERSIONS}" STREQUAL "")
    _cudaops_verdict_pairs("${arg_COMPATIBLE_VERSIONS}" pairs)
    set(ERROR "${pairs_ERROR}")
  endif()

  if(ERROR STREQUAL "")
    string(REGEX MATCH "^0*([0-9]+)\\.0*([0-9]+)" toolkit "${arg_TOOLKIT}")
    set(toolkit_major "${CMAKE_MATCH_1}")
    if(NOT toolkit STREQUAL "")
      set(toolkit "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}")
    endif()
    string(REGEX MATCH "^0*([0-9]+)\\.0*([0-9]+)" cuda "${arg_TORCH_CUDA}")
    set(cuda_major "${CMAKE_MATCH_1}")
    if(NOT cuda STREQUAL "")
      set(cuda "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}")
    endif()

    if("${arg_TORCH}" STREQUAL "")
      set(VERDICT NO_TORCH)
    elseif(NOT "${arg_TORCH_HIP}" STREQUAL "")
      set(VERDICT ROCM_TORCH)
    elseif(cuda STREQUAL "")
      set(VERDICT CPU_TORCH)
    elseif(toolkit STREQUAL "")
      set(VERDICT NO_TOOLKIT)
    else()
      if("${toolkit}:${cuda}" IN_LIST pairs_FIT)
        set(declared FIT)
      elseif("${toolkit}:${cuda}" IN_LIST pairs_UNFIT)
        set(declared UNFIT)
      endif()
      if(declared STREQUAL "UNFIT")
        set(VERDICT MISMATCH)
      elseif(toolkit STREQUAL cuda)
        set(VERDICT EXACT)
      elseif(declared STREQUAL "FIT")
        set(VERDICT COMPATIBLE)
      elseif(
        toolkit_major STREQUAL cuda_major
        AND toolkit VERSION_GREATER_EQUAL 11.1
        AND cuda VERSION_GREATER_EQUAL 11.1
      )
        set(VERDICT COMPATIBLE)
      else()
        set(VERDICT MISMATCH)
      endif()
    endif()

    _cudaops_verdict_action("${VERDICT}" "${policy}" "${declared}" ACTION FITS RANK)
    if(NOT VERDICT STREQUAL "EXACT")
      _cudaops_verdict_text()
    endif()
  else()
    set(ACTION STOP)
  endif()

  set(names "VERDICT;ACTION;FITS;RANK;REASON;HEAD;FACTS;FIX;ERROR")
  foreach(name IN LISTS names)
    set(${prefix}_${name} "${${name}}" PARENT_SCOPE)
  endforeach()
endfunction()

# _cudaops_verdict_action(<verdict> <policy> <FIT, UNFIT or empty> <out-action> <out-fits> <out-rank>)
#
# What follows from a verdict: the only place that knows what a policy means.
function(
  _cudaops_verdict_action
  verdict
  policy
  declared
  out_action
  out_fits
  out_rank
)
  set(fits FALSE)
  set(action STATUS)
  set(rank 0)
  if(verdict STREQUAL "EXACT")
    set(action PASS)
    set(fits TRUE)
    set(rank 3)
  elseif(verdict STREQUAL "COMPATIBLE")
    set(fits TRUE)
    set(rank 2)
    if(policy STREQUAL "STRICT" AND declared STREQUAL "")
      set(action STOP)
      set(fits FALSE)
    endif()
  elseif(verdict STREQUAL "MISMATCH")
    set(rank 1)
    set(action STOP)
    if(policy STREQUAL "WARN")
      set(action WARN)
    endif()
  endif()
  set(${out_action} ${action} PARENT_SCOPE)
  set(${out_fits} ${fits} PARENT_SCOPE)
  set(${out_rank} ${rank} PARENT_SCOPE)
endfunction()

# Writes REASON, HEAD, FACTS and FIX into _cudaops_verdict, whose variables it reads: a part of that function, split off
# for its length, hence no arguments.
function(_cudaops_verdict_text)
  set(toolkit_line "none was found")
  if(NOT "${arg_TOOLKIT}" STREQUAL "")
    set(toolkit_line "CUDA ${arg_TOOLKIT}")
  endif()
  if(NOT "${arg_TOOLKIT_SOURCE}" STREQUAL "")
    string(APPEND toolkit_line ": ${arg_TOOLKIT_SOURCE}")
  endif()
  set(torch_line "none was found")
  if(VERDICT STREQUAL "CPU_TORCH")
    set(torch_line "${arg_TORCH}, a CPU build")
  elseif(VERDICT STREQUAL "ROCM_TORCH")
    set(torch_line "${arg_TORCH}, built with HIP ${arg_TORCH_HIP}")
  elseif(NOT VERDICT STREQUAL "NO_TORCH")
    set(torch_line "${arg_TORCH}, built with CUDA ${cuda}")
  endif()
  if(NOT "${arg_TORCH_SOURCE}" STREQUAL "")
    string(APPEND torch_line ": ${arg_TORCH_SOURCE}")
  endif()

  set(rule "CUDA's minor versions fit each other inside one major, from 11.1 on")
  set(provide "")
  set(toolkit_fix "")
  set(torch_fix "")
  set(policy_fix "")
  set(best "${cuda}")
  if(declared STREQUAL "UNFIT" AND toolkit STREQUAL cuda)
    set(best "")
  endif()
  # Only since CUDA 13 do the wheels on PyPI hold a compiler.
  if(NOT best STREQUAL "")
    if(cuda VERSION_GREATER_EQUAL 13.0)
      set(provide "-DCUDAOPS_PROVIDE=TOOLKIT   (brings CUDA ${cuda} from Python wheels)")
    else()
      set(provide "(CUDAOPS_PROVIDE=TOOLKIT can't bring CUDA ${cuda}: wheels before CUDA 13 hold no compiler)")
    endif()
  endif()
  # cuXYZ is how torch's wheels are named.
  string(REPLACE "." "" wheel "cu${toolkit}")

  if(VERDICT STREQUAL "COMPATIBLE")
    set(toolkit_fix "-DCUDAToolkit_ROOT=<dir>   (a CUDA ${cuda} toolkit)")
    set(
      torch_fix
      "-DPython_EXECUTABLE=<python>   (one with a torch for CUDA ${toolkit}: pip install a +${wheel} build)"
    )
    if(declared STREQUAL "FIT")
      set(REASON "toolkit CUDA ${toolkit} and torch's CUDA ${cuda} are declared to fit by CUDAOPS_COMPATIBLE_VERSIONS")
      set(policy_fix "take ${toolkit}:${cuda} out of CUDAOPS_COMPATIBLE_VERSIONS")
    else()
      set(
        REASON
        "toolkit CUDA ${toolkit} and torch's CUDA ${cuda} differ in the minor version, which is fine inside one major"
      )
      set(policy_fix "-DCUDAOPS_VERSION_POLICY=COMPATIBLE   (accepts another minor version of the same major)")
    endif()
    set(HEAD "CUDAOPS_VERSION_POLICY=STRICT accepts only a toolkit of torch's own CUDA version.")
    set(rule "CUDAOPS_VERSION_POLICY=STRICT: the same major.minor")
  elseif(VERDICT STREQUAL "MISMATCH")
    set(
      policy_fix
      "-DCUDAOPS_VERSION_POLICY=WARN   (uses this pair, at your own risk)"
      "-DCUDAOPS_BACKEND=CPU   (builds without CUDA)"
    )
    if(declared STREQUAL "UNFIT")
      set(HEAD "this toolkit does not fit this torch.")
      set(
        REASON
        "toolkit CUDA ${toolkit} and torch's CUDA ${cuda} are declared not to fit by CUDAOPS_COMPATIBLE_VERSIONS"
      )
      set(rule "CUDAOPS_COMPATIBLE_VERSIONS holds !${toolkit}:${cuda}")
      set(toolkit_fix "-DCUDAToolkit_ROOT=<dir>   (another CUDA ${cuda_major} toolkit)")
      set(torch_fix "-DPython_EXECUTABLE=<python>   (one with another torch)")
    else()
      if(toolkit_major STREQUAL cuda_major)
        set(HEAD "toolkit and torch must be of one CUDA version.")
        set(
          REASON
          "toolkit CUDA ${toolkit} and torch's CUDA ${cuda} differ, and CUDA before 11.1 promises nothing between minor versions"
        )
        set(wanted "a CUDA ${cuda} toolkit")
        set(torch_wanted "CUDA ${toolkit}")
      else()
        set(HEAD "toolkit and torch must be of one CUDA major version.")
        set(REASON "toolkit CUDA ${toolkit} and torch's CUDA ${cuda} are of different major versions")
        set(wanted "a CUDA ${cuda_major} toolkit, best ${cuda}")
        set(torch_wanted "CUDA ${toolkit_major}")
      endif()
      set(toolkit_fix "-DCUDAToolkit_ROOT=<dir>   (${wanted})")
      set(
        torch_fix
        "-DPython_EXECUTABLE=<python>   (one with a torch for ${torch_wanted}: pip install a +${wheel} build)"
      )
    endif()
  elseif(VERDICT STREQUAL "NO_TOOLKIT")
    set(HEAD "no CUDA toolkit was found.")
    set(REASON "no CUDA toolkit was found")
    set(rule "")
    set(toolkit_fix "-DCUDAToolkit_ROOT=<dir>   (a CUDA ${cuda_major} toolkit, best ${cuda})")
  elseif(VERDICT STREQUAL "CPU_TORCH")
    set(HEAD "this torch was built without CUDA.")
    set(REASON "torch ${arg_TORCH} was built without CUDA")
    set(rule "")
    set(provide "")
    set(torch_fix "-DPython_EXECUTABLE=<python>   (one with a torch for CUDA: pip install torch brings it)")
  elseif(VERDICT STREQUAL "ROCM_TORCH")
    set(HEAD "this torch was built for ROCm.")
    set(REASON "torch ${arg_TORCH} was built with HIP ${arg_TORCH_HIP}")
    set(rule "")
    set(provide "")
    set(torch_fix "-DPython_EXECUTABLE=<python>   (one with a torch for CUDA: pip install torch brings it)")
  else()
    set(HEAD "no torch was found.")
    set(REASON "no torch was found")
    set(rule "")
    set(provide "")
    set(torch_fix "-DPython_EXECUTABLE=<python>   (one that has torch)" "-DCUDAOPS_PROVIDE=TORCH   (installs one)")
  endif()
  string(PREPEND HEAD "find_package(CudaTorchMatch): ")

  # Texts from outside stand in a list here.
  string(REPLACE ";" "\\;" toolkit_line "${toolkit_line}")
  string(REPLACE ";" "\\;" torch_line "${torch_line}")
  set(FACTS "toolkit  ${toolkit_line}" "torch    ${torch_line}")
  if(NOT rule STREQUAL "")
    list(APPEND FACTS "rule     ${rule}")
  endif()
  _cudaops_verdict_others(FACTS "others   " ${arg_CANDIDATES})
  set(FIX ${toolkit_fix} ${provide} ${torch_fix} ${policy_fix})
  foreach(name IN ITEMS REASON HEAD FACTS FIX)
    set(${name} "${${name}}" PARENT_SCOPE)
  endforeach()
endfunction()
