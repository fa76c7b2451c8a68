# SPDX-License-Identifier: Apache-2.0
# CUDA's architectures with one nvcc: what it builds, its default, the visible GPUs, words to numbers. Asks nvcc,
# the driver and torch's library only where needed.

_cudaops_use(arch/select base/message base/probe base/state facts/gpus facts/library)

# _cudaops_arch_ask_nvcc(<out> <nvcc>): what this nvcc builds (75;80;…;90a;100f), remembered with the file.
function(_cudaops_arch_ask_nvcc out nvcc)
  # What is beside it tells when a script's toolkit is another one.
  cmake_path(GET nvcc PARENT_PATH directory)
  set(files "${directory}/ptxas" "${directory}/../version.json")
  _cudaops_probe(listed FILES ${files} PROGRAM MATCHALL "compute_[0-9]+[af]?" COMMAND "${nvcc}" --list-gpu-arch)
  _cudaops_probe(helped FILES ${files} PROGRAM MATCHALL "'sm_[0-9]+[af]?'" COMMAND "${nvcc}" --help)
  _cudaops_arch_supported(archs LIST_GPU_ARCH "${listed_OUTPUT}" HELP "${helped_OUTPUT}")
  set(${out} "${archs}" PARENT_SCOPE)
endfunction()

# The arch that the enabled nvcc takes when none is given, as CMake writes it; empty if it can't be read.
function(_cudaops_arch_compiler_default out)
  set(${out} "" PARENT_SCOPE)
  if(CMAKE_CUDA_COMPILER)
    set(shared PROGRAM)
    if("$ENV{NVCC_PREPEND_FLAGS} $ENV{NVCC_APPEND_FLAGS}" MATCHES "native")
      # Then the GPUs answer.
      set(shared FILES "${CMAKE_CUDA_COMPILER}")
    endif()
    _cudaops_probe(
      plan
      MATCHALL "-arch[= ]\"?sm_[0-9]+"
      STREAM ERROR
      ${shared}
      COMMAND "${CMAKE_CUDA_COMPILER}" --dryrun __cudaops__.cu
    )
    if(plan_OUTPUT MATCHES "sm_([0-9]+)")
      set(${out} "${CMAKE_MATCH_1}" PARENT_SCOPE)
    endif()
  endif()
endfunction()

# _cudaops_arch_resolve(<out> CALLER <command> REQUEST <entry>... TEXT <text> SOURCE <text> [FIX <text>]
#                       [SUPPORTED <arch>... TOOLKIT_VERSION <version> TOOLKIT_ROOT <dir>])
#
# Words to numbers, then the check; what can't be built ends the configure. FIX as in _cudaops_arch_stop_unless_built().
# Without SUPPORTED: the toolkit of the match. Needs TORCH_LIB_DIR in the state for `common`.
function(_cudaops_arch_resolve out)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CALLER;TEXT;SOURCE;FIX;TOOLKIT_VERSION;TOOLKIT_ROOT" "REQUEST;SUPPORTED")
  if(NOT DEFINED arg_SUPPORTED)
    _cudaops_state_get(TOOLKIT_ARCHS arg_SUPPORTED)
    _cudaops_state_get(TOOLKIT_VERSION arg_TOOLKIT_VERSION)
    _cudaops_state_get(TOOLKIT_ROOT arg_TOOLKIT_ROOT)
  endif()
  set(gpus "")
  set(torch "")
  if("native" IN_LIST arg_REQUEST)
    _cudaops_gpus(gpus)
  endif()
  if("common" IN_LIST arg_REQUEST OR "native" IN_LIST arg_REQUEST)
    _cudaops_torch_archs(torch cuda)
  endif()
  _cudaops_arch_expand(
    expanded
    REQUEST ${arg_REQUEST}
    SUPPORTED ${arg_SUPPORTED}
    TORCH_ARCHS ${torch}
    GPUS ${gpus}
  )
  if(NOT expanded_WARNINGS STREQUAL "")
    list(JOIN expanded_ENTRIES " " list)
    list(POP_FRONT expanded_WARNINGS first)
    _cudaops_warn(
      "${arg_CALLER}: ${first}"
      FACTS "requested  ${arg_TEXT} (from ${arg_SOURCE})" "built      ${list}" ${expanded_WARNINGS}
      FIX "-DCMAKE_CUDA_ARCHITECTURES=<list>, such as 80 or 90a"
    )
  endif()
  _cudaops_arch_check(
    check
    ENTRIES ${expanded_ENTRIES}
    SUPPORTED ${arg_SUPPORTED}
    TOOLKIT_VERSION "${arg_TOOLKIT_VERSION}"
    TOOLKIT_ROOT "${arg_TOOLKIT_ROOT}"
    REQUESTED "${arg_TEXT}"
    SOURCE "${arg_SOURCE}"
  )
  _cudaops_arch_stop_unless_built("${arg_CALLER}" "${arg_FIX}")
  set(${out} "${expanded_ENTRIES}" PARENT_SCOPE)
endfunction()

# _cudaops_arch_stop_unless_built(<command> <fix>)
#
# By check_* of the calling function, which are _cudaops_arch_check()'s. <fix>: what to write instead, with @ for a list
# that can be built; empty: -DCMAKE_CUDA_ARCHITECTURES.
function(_cudaops_arch_stop_unless_built command fix)
  if(check_BAD STREQUAL "")
    return()
  endif()
  if(fix STREQUAL "")
    _cudaops_arch_fix(fix CUDA "${check_SUGGESTION}")
  else()
    list(JOIN check_SUGGESTION " " suggestion)
    string(REPLACE "@" "${suggestion}" fix "${fix}")
  endif()
  set(other "")
  if(check_TOOLKIT)
    set(other "or ${check_TOOLKIT}: -DCUDAToolkit_ROOT=<dir>")
  endif()
  _cudaops_stop("${command}: ${check_RULE}" FACTS ${check_FACTS} FIX "${fix}" "${other}")
endfunction()

# _cudaops_arch_fix(<out> <gpu> <list>): the option that requests <list>, as it is typed in a shell.
function(_cudaops_arch_fix out gpu list)
  if(list MATCHES ";")
    set(list "\"${list}\"")
  endif()
  set(${out} "-DCMAKE_${gpu}_ARCHITECTURES=${list}" PARENT_SCOPE)
endfunction()
