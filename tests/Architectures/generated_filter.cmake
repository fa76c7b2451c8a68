# Generated requests and supported lists. Checked by meaning, not by the order of the rules: what comes out can be
# built, runs on the GPU that was asked for, and is missing only where nothing listed could run there.
include("${CMAKE_CURRENT_LIST_DIR}/common/check.cmake")
_cudaops_use(arch/select)

if(NOT DEFINED check_SEED)
  set(check_SEED 20260102)
endif()
if(NOT DEFINED check_COUNT)
  set(check_COUNT 4000)
  if("${case_DIR}" MATCHES "@[0-9.]+$")
    # The suite runs once in full; its repetitions with other CMake releases look for differences between these.
    set(check_COUNT 1000)
  endif()
endif()
string(RANDOM LENGTH 1 RANDOM_SEED ${check_SEED} ignored)

# The GPUs that code for an arch runs on, from NVIDIA's tables, written out.
set(
  gpus
  75
  80
  86
  87
  88
  89
  90
  100
  103
  110
  120
  121
)
set(real_75 75)
set(
  real_80
  80
  86
  87
  88
  89
)
set(real_86 86 87 88 89)
set(real_87 87 88 89)
set(real_88 88 89)
set(real_89 89)
set(real_90 90)
set(real_90a 90)
set(real_100 100 103)
set(real_100a 100)
set(real_100f 100 103)
set(real_103 103)
set(real_103a 103)
set(real_103f 103)
set(real_110 110)
set(real_110a 110)
set(real_110f 110)
set(real_120 120 121)
set(real_120a 120)
set(real_120f 120 121)
set(real_121 121)
set(real_121a 121)
set(real_121f 121)
foreach(arch IN LISTS check_13_0)
  set(virtual_${arch} ${real_${arch}})
  if(arch MATCHES "[0-9]$")
    list(FIND gpus ${arch} at)
    list(SUBLIST gpus ${at} -1 virtual_${arch})
  endif()
endforeach()

# 30 letters, one an arch; those behind the list stand for what this nvcc can't build.
set(
  archs
  ${check_13_0}
  70
  101a
  90f
  60
  130
)
list(LENGTH archs count)
set(nothing_served 0)
foreach(round RANGE 1 ${check_COUNT})
  string(RANDOM LENGTH 24 ALPHABET 0123456789 draw)
  set(request "")
  set(filter "")
  foreach(i RANGE 0 3)
    math(EXPR at "${i} * 6")
    string(SUBSTRING "${draw}" ${at} 2 number)
    math(EXPR number "(1${number} - 100) % 23")
    list(GET check_13_0 ${number} arch)
    math(EXPR at "${at} + 2")
    string(SUBSTRING "${draw}" ${at} 1 digit)
    if(digit LESS 5 OR i EQUAL 0)
      list(APPEND request ${arch}-real)
    endif()
    if(digit GREATER 3 AND digit LESS 7)
      list(APPEND request ${arch}-virtual)
    endif()
    math(EXPR at "${at} + 1")
    string(SUBSTRING "${draw}" ${at} 2 number)
    math(EXPR number "(1${number} - 100) % ${count}")
    list(GET archs ${number} arch)
    math(EXPR at "${at} + 2")
    string(SUBSTRING "${draw}" ${at} 1 digit)
    if(digit LESS 6 OR i EQUAL 0)
      list(APPEND filter ${arch}-real)
    endif()
    if(digit GREATER 2 AND digit LESS 8)
      list(APPEND filter ${arch}-virtual)
    endif()
  endforeach()
  list(REMOVE_DUPLICATES request)
  list(REMOVE_DUPLICATES filter)

  _cudaops_arch_filter(x REQUEST ${request} FILTER ${filter} SUPPORTED ${check_13_0})
  set(problem "")
  set(reached "")
  foreach(entry IN LISTS x_ENTRIES)
    if(NOT entry MATCHES "^(.+)-(real|virtual)$" OR NOT CMAKE_MATCH_1 IN_LIST check_13_0)
      string(APPEND problem "\n  ${entry} can't be built")
    endif()
    string(REGEX REPLACE "-.*" "" arch "${entry}")
    if(NOT "${arch}-real" IN_LIST filter AND NOT "${arch}-virtual" IN_LIST filter)
      string(APPEND problem "\n  ${entry} is not what the code supports")
    endif()
    string(REGEX REPLACE "^(.+)-(.+)$" "\\2_\\1" name "${entry}")
    list(APPEND reached ${${name}})
  endforeach()
  foreach(entry IN LISTS request)
    string(REGEX MATCH "^[0-9]+" cc "${entry}")
    string(REGEX REPLACE "(.)$" ".\\1" number "${cc}")
    if(number IN_LIST x_UNSERVED)
      math(EXPR nothing_served "${nothing_served} + 1")
      foreach(candidate IN LISTS filter)
        string(REGEX REPLACE "^(.+)-(.+)$" "\\2_\\1" name "${candidate}")
        if(cc IN_LIST ${name})
          string(APPEND problem "\n  ${cc} is not served, but ${candidate} runs there")
        endif()
      endforeach()
    elseif(NOT cc IN_LIST reached)
      string(APPEND problem "\n  nothing runs on ${cc}, and it is not said")
    endif()
  endforeach()
  if(problem)
    message(
      SEND_ERROR
      "seed ${check_SEED}, round ${round}\n  request  ${request}\n  supports ${filter}\n  result   ${x_ENTRIES}\n  unserved ${x_UNSERVED}${problem}"
    )
  endif()
endforeach()
message(STATUS "${check_COUNT} rounds, seed ${check_SEED}, ${nothing_served} times not served")
if(nothing_served LESS check_COUNT)
  message(SEND_ERROR "${nothing_served} times not served: the generator tests too little")
endif()
