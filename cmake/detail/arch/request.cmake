# SPDX-License-Identifier: Apache-2.0
# Which architectures the user asks for, from variables, environment and GPUs, and what becomes of them with the toolkit
# at hand. Reads variables of the calling directory; asks nvcc, the driver and torch's library only where needed.

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)
# An empty value of a keyword is a value.
if(POLICY CMP0174)
  cmake_policy(SET CMP0174 NEW)
endif()

if(NOT COMMAND _cudaops_use)
  include("${CMAKE_CURRENT_LIST_DIR}/../base/use.cmake")
endif()
_cudaops_use(arch/grammar arch/select base/message base/options base/probe base/state facts/library)

# _cudaops_arch_match(SUPPORTED <arch>... TOOLKIT_VERSION <version> TOOLKIT_ROOT <dir> [CALLER <command>])
#
# The build tree's architectures: request, words to numbers, check against the toolkit. Ends the configure where the
# request can't be read or built. Fills the state: ARCHITECTURES (canonical), ARCHITECTURES_REQUESTED (text),
# ARCHITECTURES_SOURCE (where it came from), ARCHITECTURES_VARIABLE (for CMAKE_CUDA_ARCHITECTURES once CUDA is enabled).
# Needs TORCH_LIB_DIR in the state for `common`.
function(_cudaops_arch_match)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TOOLKIT_VERSION;TOOLKIT_ROOT;CALLER" "SUPPORTED")
  if(NOT arg_CALLER)
    set(arg_CALLER "find_package(CudaTorchMatch)")
  endif()
  _cudaops_arch_request(request CALLER "${arg_CALLER}")
  _cudaops_arch_resolve(
    resolved
    CALLER "${arg_CALLER}"
    REQUEST ${request_ENTRIES}
    TEXT "${request_TEXT}"
    SOURCE "${request_SOURCE}"
    SUPPORTED ${arg_SUPPORTED}
    TOOLKIT_VERSION "${arg_TOOLKIT_VERSION}"
    TOOLKIT_ROOT "${arg_TOOLKIT_ROOT}"
  )
  _cudaops_arch_spell(variable ${resolved})
  _cudaops_state_set(ARCHITECTURES "${resolved}")
  _cudaops_state_set(ARCHITECTURES_REQUESTED "${request_TEXT}")
  _cudaops_state_set(ARCHITECTURES_SOURCE "${request_SOURCE}")
  _cudaops_state_set(ARCHITECTURES_VARIABLE "${variable}")
endfunction()

# _cudaops_arch_request(<prefix> CALLER <command>)
#
# The first that says something; an empty or OFF one says nothing (OFF in the cache alone is worth a warning):
#   CMAKE_CUDA_ARCHITECTURES · environment CUDAARCHS · TORCH_CUDA_ARCH_LIST (variable, then environment) · the visible
#   GPUs, except in a wheel build · common
# Others that ask for something else are named: a STATUS line, or a WARNING where both are variables.
#
#   <prefix>_ENTRIES  canonical entries and words
#   <prefix>_SOURCE   "CMAKE_CUDA_ARCHITECTURES", "environment TORCH_CUDA_ARCH_LIST", "visible GPUs", "default"
#   <prefix>_TEXT     as it was written there
function(_cudaops_arch_request prefix)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CALLER" "")
  _cudaops_env(CUDAARCHS cudaarchs)
  _cudaops_env(TORCH_CUDA_ARCH_LIST torch_env)
  _cudaops_arch_cmake_request("${cudaarchs}" from_variable from_cmake)
  if(cudaarchs STREQUAL "")
    set(cudaarchs "${from_cmake}")
  endif()
  set(torch_variable "${TORCH_CUDA_ARCH_LIST}")
  if(torch_variable STREQUAL torch_env)
    # find_package(Torch) copies the environment into the variable.
    set(torch_variable "")
  endif()

  set(names CMAKE_CUDA_ARCHITECTURES "environment CUDAARCHS" TORCH_CUDA_ARCH_LIST "environment TORCH_CUDA_ARCH_LIST")
  set(values from_variable cudaarchs torch_variable torch_env)
  set(source "")
  foreach(name value IN ZIP_LISTS names values)
    set(text "${${value}}")
    if(text MATCHES "^[ ;,]*$")
      continue()
    endif()
    _cudaops_arch_parse("${text}" entries error meant)
    if(source STREQUAL "")
      if(error)
        _cudaops_arch_accepted(accepted FALSE)
        if(meant STREQUAL "")
          set(meant "80;90")
        endif()
        _cudaops_arch_fix(fix "${meant}")
        _cudaops_stop(
          "${arg_CALLER}: ${error}"
          FACTS "found     ${text} (from ${name})" "accepted  ${accepted}"
          FIX "${fix}"
        )
      endif()
      set(source "${name}")
      set(source_text "${text}")
      set(source_entries "${entries}")
    elseif(NOT error)
      _cudaops_arch_same("${source_entries}" "${entries}" same)
      if(NOT same)
        _cudaops_arch_disagreement("${arg_CALLER}" "${source}" "${source_text}" "${name}" "${text}")
      endif()
    endif()
  endforeach()

  if(source STREQUAL "")
    set(source "default")
    set(source_text "common")
    set(source_entries "common")
    _cudaops_wheel_build(wheel)
    if(NOT wheel)
      _cudaops_use(facts/gpus)
      _cudaops_gpus(gpus)
      if(gpus)
        set(source "visible GPUs")
        list(JOIN gpus " " source_text)
        set(source_entries "native")
      endif()
    endif()
    _cudaops_arch_warn_of_off("${arg_CALLER}" CMAKE_CUDA_ARCHITECTURES "${source_text} (${source})" 90)
  endif()
  set(${prefix}_ENTRIES "${source_entries}" PARENT_SCOPE)
  set(${prefix}_SOURCE "${source}" PARENT_SCOPE)
  set(${prefix}_TEXT "${source_text}" PARENT_SCOPE)
endfunction()

# The option that requests <list>, as it is typed in a shell.
function(_cudaops_arch_fix out list)
  if(list MATCHES ";")
    set(list "\"${list}\"")
  endif()
  set(${out} "-DCMAKE_CUDA_ARCHITECTURES=${list}" PARENT_SCOPE)
endfunction()

# What CMAKE_CUDA_ARCHITECTURES says: <out-variable> is the user's own value; <out-environment> what CMake put there
# from CUDAARCHS. Its own default is neither.
function(_cudaops_arch_cmake_request cudaarchs out_variable out_environment)
  set(${out_variable} "" PARENT_SCOPE)
  set(${out_environment} "" PARENT_SCOPE)
  set(cached "$CACHE{CMAKE_CUDA_ARCHITECTURES}")
  set(value "${CMAKE_CUDA_ARCHITECTURES}")
  _cudaops_state_get(ARCHITECTURES_VARIABLE ours)
  # OFF is what find_package(Torch) leaves there: it hides the user's value in the cache. A value of ours comes from an
  # earlier call in a parent directory.
  if(NOT value OR (ours AND value STREQUAL ours))
    set(value "${cached}")
  endif()
  if(NOT value)
    return()
  endif()
  if(value STREQUAL cached)
    get_property(help CACHE CMAKE_CUDA_ARCHITECTURES PROPERTY HELPSTRING)
    if(help STREQUAL "CUDA architectures")
      if(cudaarchs STREQUAL "")
        _cudaops_arch_compiler_default(default)
        if(NOT default STREQUAL "" AND NOT value STREQUAL default)
          set(${out_environment} "${value}" PARENT_SCOPE)
        endif()
      endif()
      return()
    endif()
  endif()
  set(${out_variable} "${value}" PARENT_SCOPE)
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

# 90 and 9.0 ask for the same arch; whether PTX comes along is no disagreement.
function(_cudaops_arch_same one other out)
  foreach(list IN ITEMS one other)
    list(TRANSFORM ${list} REPLACE "-(real|virtual)" "")
    list(REMOVE_DUPLICATES ${list})
    list(SORT ${list})
  endforeach()
  if(one STREQUAL other)
    set(${out} TRUE PARENT_SCOPE)
  else()
    set(${out} FALSE PARENT_SCOPE)
  endif()
endfunction()

function(
  _cudaops_arch_disagreement
  caller
  winner
  winner_text
  loser
  loser_text
)
  if("${winner}${loser}" MATCHES "environment")
    _cudaops_status("CudaOps: architectures ${winner_text} (${winner}); ${loser} asks for ${loser_text} and is not used")
  else()
    _cudaops_warn(
      "${caller}: two variables ask for different architectures."
      FACTS "used      ${winner} = ${winner_text}" "not used  ${loser} = ${loser_text}"
      FIX "-U${loser}" "or set(${loser}) to the same list"
    )
  endif()
endfunction()

# _cudaops_arch_warn_of_off(<caller> <variable> <what is built> <example>)
#
# OFF in the cache is a user's word: find_package(Torch) sets the variable of its directory. To CMake it means that flags
# choose the architecture; here it chooses nothing, because ops have to know theirs.
function(_cudaops_arch_warn_of_off caller variable built example)
  if("$CACHE{${variable}}" MATCHES "[^ ;,]" AND NOT "$CACHE{${variable}}")
    _cudaops_warn(
      "${caller}: ${variable}=$CACHE{${variable}} names no architecture."
      FACTS "built   ${built}" "rule    an op is built for architectures that it knows, not for those of flags"
      FIX "-D${variable}=${example}, or the like" "or -U${variable}   (what is built now, without this warning)"
    )
  endif()
endfunction()

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

# _cudaops_arch_resolve(<out> CALLER <command> REQUEST <entry>... TEXT <text> SOURCE <text> SUPPORTED <arch>...
#                       TOOLKIT_VERSION <version> TOOLKIT_ROOT <dir> [OWN_REQUEST])
#
# Words to numbers, then the check; what can't be built ends the configure. OWN_REQUEST: it came from a REQUEST keyword,
# so that is where it is mended.
function(_cudaops_arch_resolve out)
  cmake_parse_arguments(
    PARSE_ARGV 1
    arg
    "OWN_REQUEST"
    "CALLER;TEXT;SOURCE;TOOLKIT_VERSION;TOOLKIT_ROOT"
    "REQUEST;SUPPORTED"
  )
  set(gpus "")
  set(torch "")
  if("native" IN_LIST arg_REQUEST)
    _cudaops_use(facts/gpus)
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
  if(NOT check_BAD STREQUAL "")
    if(arg_OWN_REQUEST)
      list(JOIN check_SUGGESTION " " suggestion)
      set(fix "REQUEST ${suggestion}")
    else()
      _cudaops_arch_fix(fix "${check_SUGGESTION}")
    endif()
    set(other "")
    if(check_TOOLKIT)
      set(other "or ${check_TOOLKIT}: -DCUDAToolkit_ROOT=<dir>")
    endif()
    _cudaops_stop("${arg_CALLER}: ${check_RULE}" FACTS ${check_FACTS} FIX "${fix}" "${other}")
  endif()
  set(${out} "${expanded_ENTRIES}" PARENT_SCOPE)
endfunction()
