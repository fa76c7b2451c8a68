# Generated pairs of toolkit and torch under every policy, with declared pairs and malformed input. The expected verdict
# is worked out on integers, not by what is under test.
include("${CMAKE_CURRENT_LIST_DIR}/common/check.cmake")
_cudaops_use(match/verdict)

set(
  junk
  "13;13.;.0;13.0a;v13.0;13,0;13..0;[13.0;13.0];-13.0;13.0 ;\\;13.0 ;#;\${x};\"13.0\";13.0\\\\;1 3.0;13.0.;0x13.0"
)
set(
  policies
  STRICT
  STRICT
  STRICT
  WARN
  WARN
  WARN
  ""
  COMPATIBLE
  COMPATIBLE
  COMPATIBLE
)
foreach(digit RANGE 9)
  list(GET policies ${digit} policy_${digit})
endforeach()
set(versions "10.0;10.1;11.0;11.1;11.3;11.8;12.0;12.1;12.4;12.6;12.8;12.9;12.10;13.0;13.2;13.10;1.3;0.9")

# A letter for each version, and the version as an integer.
set(letters abcdefghijklmnopqr)
set(at 0)
foreach(version IN LISTS versions)
  string(SUBSTRING ${letters} ${at} 1 letter)
  math(EXPR at "${at} + 1")
  string(REPLACE "." ";" numbers "${version}")
  list(POP_FRONT numbers major minor)
  set(version_${letter} ${version})
  set(major_${letter} ${major})
  math(EXPR order_${letter} "${major} * 1000 + ${minor}")
endforeach()
list(LENGTH junk count)
set(at 0)
foreach(word IN LISTS junk)
  string(REPLACE ";" "\\;" junk_${at} "${word}")
  math(EXPR at "${at} + 1")
endforeach()

# try(<toolkit's letter> <torch's letter> <eight digits>): one input.
function(
  try
  a
  b
  policy
  torch
  declare
  patch
  bad
  absent
  unused
  place
)
  set(toolkit ${version_${a}})
  set(cuda ${version_${b}})
  set(policy "${policy_${policy}}")
  set(shown "${toolkit}")
  if(patch GREATER 4)
    string(APPEND shown ".${patch}")
  endif()
  set(pairs "")
  if(declare EQUAL 0)
    set(pairs "${toolkit}:${cuda}")
  elseif(declare EQUAL 1)
    set(pairs "9.9:9.8;! ${toolkit} : ${cuda}")
  elseif(declare EQUAL 2)
    set(pairs "${cuda}:${toolkit}1;;")
  endif()
  set(version "2.${place}.0+cu")
  set(hip "")
  set(torch_cuda "${cuda}")
  if(absent EQUAL 0)
    set(shown "")
  endif()

  # What must come out: the error's first words, or the verdict and the action.
  set(error "")
  if(bad EQUAL 0)
    math(EXPR place "${place} % 5")
    math(EXPR which "(${order_${a}} + ${patch}) % ${count}")
    set(word "${junk_${which}}")
    if(place EQUAL 0)
      set(shown "${word}")
      set(error "The toolkit's version '")
    elseif(place EQUAL 1)
      set(torch_cuda "${word}")
      set(error "The CUDA version of torch, '")
    elseif(place EQUAL 2)
      set(policy "${word}")
      set(error "CUDAOPS_VERSION_POLICY is '")
    elseif(place EQUAL 3)
      set(pairs "~${word}:${word}")
      set(error "CUDAOPS_COMPATIBLE_VERSIONS holds '")
    else()
      set(version " ${word}")
      set(error "Torch's version ' ")
    endif()
  elseif(torch EQUAL 0)
    set(version "")
  elseif(torch EQUAL 1)
    set(torch_cuda "")
  elseif(torch EQUAL 2)
    set(torch_cuda "")
    set(hip "6.4.43482-0f2d")
  endif()

  set(x ${order_${a}})
  set(y ${order_${b}})
  set(rank 0)
  set(action STATUS)
  if(version STREQUAL "")
    set(verdict NO_TORCH)
  elseif(NOT hip STREQUAL "")
    set(verdict ROCM_TORCH)
  elseif(torch_cuda STREQUAL "")
    set(verdict CPU_TORCH)
  elseif(shown STREQUAL "")
    set(verdict NO_TOOLKIT)
  elseif(declare EQUAL 1)
    set(verdict MISMATCH)
    set(rank 1)
  elseif(x EQUAL y)
    set(verdict EXACT)
    set(rank 3)
    set(action PASS)
  elseif(declare EQUAL 0 OR (major_${a} EQUAL major_${b} AND x GREATER 11000 AND y GREATER 11000))
    set(verdict COMPATIBLE)
    set(rank 2)
    set(action STATUS)
    if(policy STREQUAL "STRICT" AND NOT declare EQUAL 0)
      set(action STOP)
    endif()
  else()
    set(verdict MISMATCH)
    set(rank 1)
  endif()
  if(verdict STREQUAL "MISMATCH")
    set(action STOP)
    if(policy STREQUAL "WARN")
      set(action WARN)
    endif()
  endif()
  if(NOT error STREQUAL "")
    set(verdict "")
    set(action STOP)
    set(rank 0)
  endif()

  if(check_TRACE)
    check_input("TOOLKIT '${shown}' TORCH '${version}' TORCH_CUDA '${torch_cuda}' TORCH_HIP '${hip}' POLICY '${policy}' PAIRS '${pairs}'")
  endif()
  _cudaops_verdict(
    v
    TOOLKIT "${shown}"
    TORCH "${version}"
    TORCH_CUDA "${torch_cuda}"
    TORCH_HIP "${hip}"
    POLICY "${policy}"
    COMPATIBLE_VERSIONS "${pairs}"
  )
  set(problem "")
  string(FIND "${v_ERROR}" "${error}" at)
  if(NOT "${v_VERDICT} ${v_ACTION} ${v_RANK} ${at}" STREQUAL "${verdict} ${action} ${rank} 0")
    set(problem "expected ${verdict} ${action} ${rank} ${error}")
  elseif(error STREQUAL "")
    if(NOT v_ERROR STREQUAL "")
      set(problem "refused")
    elseif(NOT verdict STREQUAL "EXACT" AND NOT v_HEAD MATCHES "^find_package.*\\.$")
      set(problem "no text")
    endif()
  endif()
  if(NOT problem STREQUAL "")
    message(
      SEND_ERROR
      "input: TOOLKIT '${shown}' TORCH '${version}' TORCH_CUDA '${torch_cuda}' TORCH_HIP '${hip}' POLICY '${policy}' PAIRS '${pairs}'"
      "\n  ${problem}\n  got ${v_VERDICT} ${v_ACTION} ${v_RANK} ${v_ERROR}${v_HEAD}"
    )
  endif()
endfunction()

check_seed(1)
if(NOT DEFINED check_COUNT)
  set(check_COUNT 100000)
endif()
foreach(i RANGE 1 ${check_COUNT})
  string(RANDOM LENGTH 2 ALPHABET ${letters} pair)
  string(RANDOM LENGTH 8 ALPHABET 0123456789 digits)
  string(REGEX REPLACE "(.)" "\\1;" digits "${pair}${digits}")
  try(${digits})
endforeach()
