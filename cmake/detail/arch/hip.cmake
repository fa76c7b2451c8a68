# SPDX-License-Identifier: Apache-2.0
# AMD's architectures with one HIP compiler. The names are the compiler's (gfx90a, gfx942:xnack-); there is no table of
# them: each is tried.

_cudaops_use(base/message base/state facts/gpus facts/hip_compiler facts/library)

# _cudaops_hip_arch_parse(<text> <out-entries> <out-error> <out-meant>): as _cudaops_arch_parse() of arch/grammar.
function(_cudaops_hip_arch_parse text out out_error out_meant)
  string(REGEX MATCHALL "[^\\; ,]+" entries "${text}")
  set(error "")
  foreach(entry IN LISTS entries)
    if(error STREQUAL "" AND NOT entry MATCHES "^[A-Za-z0-9_.:+-]+$")
      set(error "'${entry}' is not an architecture of an AMD GPU.")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES entries)
  set(${out} "${entries}" PARENT_SCOPE)
  set(${out_error} "${error}" PARENT_SCOPE)
  set(${out_meant} "" PARENT_SCOPE)
endfunction()

# _cudaops_hip_arch_resolve(<out> CALLER <command> REQUEST <entry>... TEXT <text> SOURCE <text>)
#
# Words to names, each tried with the compiler; what can't be built ends the configure. Empty where nothing is requested
# and torch's library doesn't say what it was built for.
function(_cudaops_hip_arch_resolve out)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CALLER;TEXT;SOURCE" "REQUEST")
  set(entries "")
  foreach(entry IN LISTS arg_REQUEST)
    if(entry STREQUAL "native")
      _cudaops_visible_amd_gpus(gpus)
      if(gpus STREQUAL "")
        _cudaops_stop(
          "${arg_CALLER}: native means the visible GPUs, and there is none."
          FACTS "found   ${arg_TEXT} (from ${arg_SOURCE})"
          FIX "-DCMAKE_HIP_ARCHITECTURES=gfx90a, or the like"
        )
      endif()
      list(APPEND entries ${gpus})
    elseif(entry STREQUAL "common")
      _cudaops_torch_archs(torch hip)
      list(APPEND entries ${torch})
    else()
      list(APPEND entries "${entry}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES entries)
  set(problem "")
  if(NOT entries STREQUAL "")
    _cudaops_hip_check_archs(problem ${entries})
  endif()
  if(problem)
    # Which ones? Torch may be built for more than this compiler supports, which is not an error.
    set(good "")
    set(bad "")
    foreach(entry IN LISTS entries)
      _cudaops_hip_check_archs(own ${entry})
      if(own)
        # The compiler explains itself after a semicolon, at length.
        string(REGEX REPLACE ";.*$" "" own "${own}")
        list(APPEND bad "error      ${entry}  ${own}")
      else()
        list(APPEND good "${entry}")
      endif()
    endforeach()
    if(arg_SOURCE STREQUAL "default" AND good)
      list(JOIN good " " list)
      _cudaops_verbose("${arg_CALLER}: of torch's architectures this compiler builds ${list}")
      set(entries "${good}")
    else()
      set(rule "this HIP compiler can't build the requested architectures.")
      set(fix "-DCMAKE_HIP_ARCHITECTURES=<list>, such as gfx90a")
      if(bad STREQUAL "")
        set(rule "these architectures can't be built together.")
        string(REPLACE ";" "," problem "${problem}")
        set(bad "error      ${problem}")
        set(fix "-DCMAKE_HIP_ARCHITECTURES=<list>   (a GPU either with its features in every entry, or in none)")
      elseif(good)
        set(fix "-DCMAKE_HIP_ARCHITECTURES=\"${good}\"")
      endif()
      _cudaops_state_get(ROCM_ROOT root)
      _cudaops_state_get(ROCM_COMPILER compiler)
      _cudaops_stop(
        "${arg_CALLER}: ${rule}"
        FACTS "requested  ${arg_TEXT} (from ${arg_SOURCE})" "compiler   ${compiler} (ROCm at ${root})" ${bad}
        FIX "${fix}" "or a ROCm that knows them: -DROCm_ROOT=<dir>"
      )
    endif()
  endif()
  set(${out} "${entries}" PARENT_SCOPE)
endfunction()

# _cudaops_hip_resolve(<out-entries> <out-unserved> CALLER <command> [FILTER <arch>...] [REQUEST <arch>...])
#
# What of the requested (default: the build tree's) architectures code is built for that supports FILTER: gfx names,
# with or without features, or all. A filter of CUDA's names alone is about code that has nothing for AMD.
function(_cudaops_hip_resolve out out_unserved)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "CALLER" "FILTER;REQUEST")
  _cudaops_state_get(ARCHITECTURES all)
  set(entries "${arg_REQUEST}")
  list(FILTER entries EXCLUDE REGEX "^(native|common|all|all-major)$")
  if(entries STREQUAL "")
    set(entries "${all}")
  elseif(NOT entries STREQUAL all)
    _cudaops_hip_check_archs(problem ${entries})
    if(problem)
      _cudaops_state_get(ROCM_COMPILER compiler)
      list(JOIN entries " " found)
      string(REPLACE ";" "," problem "${problem}")
      _cudaops_stop(
        "${arg_CALLER}: this HIP compiler can't build the requested architectures."
        FACTS "found     ${found}" "compiler  ${compiler}" "error     ${problem}"
        FIX "gfx90a, or the like"
      )
    endif()
  endif()
  set(served "")
  set(unserved "")
  foreach(entry IN LISTS entries)
    string(REGEX REPLACE ":.*$" "" base "${entry}")
    if(
      "${arg_FILTER}" MATCHES "^$|(^|;)(all|all-major|native|common)(;|$)"
      OR entry IN_LIST arg_FILTER
      OR base IN_LIST arg_FILTER
    )
      list(APPEND served "${entry}")
    else()
      list(APPEND unserved "${entry}")
    endif()
  endforeach()
  set(${out} "${served}" PARENT_SCOPE)
  set(${out_unserved} "${unserved}" PARENT_SCOPE)
endfunction()
