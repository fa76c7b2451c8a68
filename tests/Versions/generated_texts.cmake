# Generated texts: version.py, build-version, METADATA, nvcc's banner and ATen.h, whole ones whose values are known and
# ones with random damage, which must end in canonical values or in the documented refusal.
include("${CMAKE_CURRENT_LIST_DIR}/common/check.cmake")
_cudaops_use(facts/version_text)

set(letters abcdefghij)
set(cuda_a "")
set(cuda_b 11.8)
set(cuda_c 12.1)
set(cuda_d 12.4)
set(cuda_e 12.8)
set(cuda_f 12.10)
set(cuda_g 13.0)
set(cuda_h 13.2)
set(cuda_i 10.2)
set(cuda_j 9.2)
set(tail_a "")
set(tail_b a0)
set(tail_c .dev20260101)
set(tail_d rc2)
set(tail_e .post3)
set(tail_f a0)
set(tail_g "")
set(tail_h "")
set(tail_i .post3.dev1)
set(tail_j "")
set(quote_a "'")
set(quote_b "\"")
set(end_a "\n")
set(end_b "\r\n")
set(hint_a "")
set(hint_b ": Optional[str]")
# What damage is made of: whatever means something to CMake, to its lists, its regexes or to Python.
set(noise "abc019.+-_'\"=:;,[](){}<>#$\\\\/@!|^*? \t\r\nABC")

function(bad what text problem)
  string(REPLACE "\n" "<LF>" text "${text}")
  string(REPLACE "\r" "<CR>" text "${text}")
  message(SEND_ERROR "input: ${what} ${text}\n  ${problem}")
endfunction()

# damage(<text> <out-var> <digits>): cuts, doubles or dirties a place.
function(damage text out where how)
  string(LENGTH "${text}" length)
  math(EXPR at "${where} % (${length} + 1)")
  string(SUBSTRING "${text}" 0 ${at} front)
  string(SUBSTRING "${text}" ${at} -1 back)
  if(how LESS 3)
    set(text "${front}")
  elseif(how LESS 4)
    set(text "${back}")
  else()
    string(RANDOM LENGTH ${how} ALPHABET "${noise}" dirt)
    if(how GREATER 7)
      string(APPEND dirt "\n")
    endif()
    set(text "${front}${dirt}${back}")
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

function(canonical_torch text)
  if("${v_ERROR}" STREQUAL "")
    if(
      NOT "${v_VERSION}|${v_RELEASE}" MATCHES "^[0-9]+\\.[0-9]+[a-z0-9.+_A-Z-]*\\|[0-9]+(\\.[0-9]+)+$"
      OR
        NOT
          "${v_KIND}|${v_CUDA}|${v_HIP}|"
            MATCHES
            "^(CUDA\\|[0-9]+(\\.[0-9]+)+\\||HIP\\|\\|[0-9]+\\.[0-9]|(CPU|UNKNOWN)\\|\\|\\|)"
    )
      bad(read "${text}" "not canonical: ${v_VERSION}|${v_RELEASE}|${v_KIND}|${v_CUDA}|${v_HIP}")
    endif()
  elseif(
    NOT "${v_VERSION}${v_RELEASE}${v_KIND}${v_CUDA}${v_HIP}" STREQUAL ""
    OR NOT v_ERROR MATCHES "^(torch/version\\.py|build-version) [^\n;]*\\.$"
  )
    bad(read "${text}" "half a refusal: ${v_VERSION}|${v_KIND}|${v_CUDA}|${v_HIP}|${v_ERROR}")
  endif()
endfunction()

function(
  try
  kind
  a
  b
  c
  d
  e
  n1
  n2
  n3
  n4
  how
)
  set(cuda "${cuda_${b}}")
  set(version "2.${n1}.${n2}${tail_${c}}")
  if(kind LESS 5)
    # version.py
    set(quote "${quote_a}")
    set(end "${end_a}")
    set(hint "${hint_a}")
    if(d MATCHES "[a-c]")
      set(quote "${quote_b}")
    endif()
    if(e MATCHES "[a-c]")
      set(end "${end_b}")
    endif()
    if(n4 GREATER 4)
      set(hint "${hint_b}")
    endif()
    set(value None)
    set(expected CPU)
    set(hip None)
    set(hip_expected "")
    if(NOT cuda STREQUAL "")
      set(value "${quote}${cuda}${quote}")
      set(expected CUDA)
    elseif(n3 GREATER 4)
      set(hip "${quote}6.${n3}.1-ab${quote}")
      set(hip_expected "6.${n3}.1-ab")
      set(expected HIP)
    endif()
    set(
      text
      "__all__ = ['cuda', 'hip']${end}__version__ = ${quote}${version}${quote}${end}cuda${hint} = ${value}${end}git_version = 'ab${n3}'${end}hip${hint} = ${hip}"
    )
    if(how LESS 3)
      check_input("version.py ${text}")
      _cudaops_read_torch_version("${text}" v)
      if(
        NOT
          "${v_VERSION}|${v_RELEASE}|${v_KIND}|${v_CUDA}|${v_HIP}|${v_GIT}|${v_ERROR}"
            STREQUAL
            "${version}|2.${n1}.${n2}|${expected}|${cuda}|${hip_expected}|ab${n3}|"
      )
        bad(version.py "${text}" "read ${v_VERSION}|${v_RELEASE}|${v_KIND}|${v_CUDA}|${v_HIP}|${v_GIT}|${v_ERROR}")
      endif()
    else()
      damage("${text}" text "1${n1}${n2}${n3}" ${how})
      check_input("version.py ${text}")
      _cudaops_read_torch_version("${text}" v)
      canonical_torch("${text}")
    endif()
  elseif(kind LESS 7)
    # build-version
    string(REPLACE "." "" local "+cu${cuda}")
    set(expected CUDA)
    if(cuda STREQUAL "")
      set(local "")
      set(expected UNKNOWN)
    endif()
    set(text "${version}${local}\n")
    if(how LESS 3)
      check_input("build-version ${text}")
      _cudaops_read_build_version("${text}" v)
      if(
        NOT
          "${v_VERSION}\n|${v_RELEASE}|${v_KIND}|${v_CUDA}|${v_HIP}|${v_ERROR}"
            STREQUAL
            "${text}|2.${n1}.${n2}|${expected}|${cuda}||"
      )
        bad(build-version "${text}" "read ${v_VERSION}|${v_RELEASE}|${v_KIND}|${v_CUDA}|${v_HIP}|${v_ERROR}")
      endif()
    else()
      damage("${text}" text "1${n1}${n2}${n3}" ${how})
      check_input("build-version ${text}")
      _cudaops_read_build_version("${text}" v)
      canonical_torch("${text}")
    endif()
  elseif(kind LESS 8)
    # METADATA
    set(expected "${cuda}")
    if(cuda STREQUAL "")
      set(pin "")
    elseif(e MATCHES "[a-e]")
      string(APPEND expected ".${n2}")
      set(pin "Requires-Dist: cuda-toolkit[cudart,nvtx]==${cuda}.${n2}; platform_system == \"Linux\"\n")
    else()
      set(pin "Requires-Dist: nvidia-cuda-runtime-cu12==${cuda}.${n2}\n")
    endif()
    set(text "Name: torch\nRequires-Dist: filelock>=${n1}.${n3}\n${pin}Requires-Dist: triton==3.${n1}.0\n\nText")
    if(how LESS 3)
      check_input("METADATA ${text}")
      _cudaops_read_requires_toolkit("${text}" out)
      if(NOT "${out}" STREQUAL "${expected}")
        bad(METADATA "${text}" "read ${out}")
      endif()
    else()
      damage("${text}" text "1${n1}${n2}${n3}" ${how})
      check_input("METADATA ${text}")
      _cudaops_read_requires_toolkit("${text}" out)
      if(NOT "${out}" MATCHES "^([0-9]+(\\.[0-9]+)+)?$")
        bad(METADATA "${text}" "not canonical: ${out}")
      endif()
    endif()
  elseif(kind LESS 9)
    # nvcc --version
    if(cuda STREQUAL "")
      set(cuda 11.${n1})
    endif()
    set(text "nvcc: compiler driver\nCuda compilation tools, release ${cuda}, V${cuda}.${n1}${n2}\nBuild ${n3}\n")
    if(how LESS 3)
      check_input("nvcc ${text}")
      _cudaops_read_nvcc_version("${text}" out)
      if(NOT "${out}" STREQUAL "${cuda}.${n1}${n2}")
        bad(nvcc "${text}" "read ${out}")
      endif()
    else()
      damage("${text}" text "1${n1}${n2}${n3}" ${how})
      check_input("nvcc ${text}")
      _cudaops_read_nvcc_version("${text}" out)
      if(NOT "${out}" MATCHES "^([0-9]+(\\.[0-9]+)+)?$")
        bad(nvcc "${text}" "not canonical: ${out}")
      endif()
    endif()
  else()
    # ATen.h
    set(text "#pragma once\n#if !defined(_MSC_VER) && __cplusplus < 201703L\n#error C++17\n")
    set(expected 17)
    if(n1 GREATER 4)
      string(REPLACE 201703 202002 text "${text}")
      set(expected 20)
    endif()
    if(how GREATER 2)
      damage("${text}" text "1${n1}${n2}${n3}" ${how})
      set(expected "(14|17|20|23)?")
    endif()
    check_input("ATen.h ${text}")
    _cudaops_torch_cxx_standard("${text}" out)
    if(NOT "${out}" MATCHES "^${expected}$")
      bad(ATen.h "${text}" "read ${out}")
    endif()
  endif()
endfunction()

check_seed(2)
if(NOT DEFINED check_COUNT)
  set(check_COUNT 100000)
endif()
foreach(i RANGE 1 ${check_COUNT})
  string(RANDOM LENGTH 5 ALPHABET ${letters} words)
  string(RANDOM LENGTH 6 ALPHABET 0123456789 digits)
  string(REGEX REPLACE "(.)" "\\1;" input "${words}${digits}")
  list(POP_BACK input ignored kind)
  try(${kind} ${input})
endforeach()
