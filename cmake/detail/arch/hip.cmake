# SPDX-License-Identifier: Apache-2.0
# Which AMD architectures the user asks for, from variables, environment and GPUs, and what the compiler says to them.
# The names are the compiler's (gfx90a, gfx942:xnack-); there is no table of them here.

_cudaops_use(arch/request base/message base/options base/state facts/gpus facts/hip_compiler facts/library)

# _cudaops_hip_arch_match(<out-problem>)
#
# The build tree's architectures: request, words to names, each tried with the compiler. Ends the configure where the
# request can't be read or built; <out-problem> says that nothing is requested and nothing can be taken instead. Fills
# ARCHITECTURES, _REQUESTED, _SOURCE and _VARIABLE of the state.
function(_cudaops_hip_arch_match out_problem)
  set(${out_problem} "" PARENT_SCOPE)
  set(caller "find_package(CudaTorchMatch)")
  _cudaops_hip_arch_request(request)

  set(entries "")
  foreach(entry IN LISTS request_ENTRIES)
    if(entry STREQUAL "native")
      _cudaops_visible_amd_gpus(gpus)
      if(gpus STREQUAL "")
        _cudaops_stop(
          "${caller}: native means the visible GPUs, and there is none."
          FACTS "found   ${request_TEXT} (from ${request_SOURCE})"
          FIX "-DCMAKE_HIP_ARCHITECTURES=gfx90a, or the like"
        )
      endif()
      list(APPEND entries ${gpus})
    elseif(entry STREQUAL "common")
      _cudaops_torch_archs(torch hip)
      list(APPEND entries ${torch})
    elseif(entry MATCHES "^[A-Za-z0-9_.:+-]+$")
      list(APPEND entries "${entry}")
    else()
      _cudaops_stop(
        "${caller}: '${entry}' is no architecture of an AMD GPU."
        FACTS "found   ${request_TEXT} (from ${request_SOURCE})" "wanted  gfx90a, gfx942:xnack-, native, common"
        FIX "-DCMAKE_HIP_ARCHITECTURES=\"gfx90a;gfx942\""
      )
    endif()
  endforeach()
  list(REMOVE_DUPLICATES entries)

  _cudaops_state_get(ROCM_ROOT root)
  _cudaops_state_get(ROCM_COMPILER compiler)
  set(text "${request_TEXT}")
  if(NOT entries STREQUAL "")
    _cudaops_hip_check_archs(problem ${entries})
    if(problem)
      # Which ones? What torch was built for may be more than this compiler knows, which is no mistake of the user's.
      set(good "")
      set(bad "")
      foreach(entry IN LISTS entries)
        _cudaops_hip_check_archs(own ${entry})
        if(own)
          # The compiler explains itself after a semicolon, at length.
          string(REGEX REPLACE ";.*$" "" own "${own}")
          list(APPEND bad "${entry}  ${own}")
        else()
          list(APPEND good "${entry}")
        endif()
      endforeach()
      string(REPLACE ";" "," problem "${problem}")
      if(request_SOURCE STREQUAL "default" AND good)
        list(JOIN good " " list)
        _cudaops_verbose("${caller}: of torch's architectures this compiler builds ${list}")
        set(entries "${good}")
      else()
        set(rule "this HIP compiler doesn't build what was asked for.")
        if(bad STREQUAL "")
          set(rule "these architectures can't be built together.")
          set(bad "${problem}")
        endif()
        set(facts "requested  ${text} (from ${request_SOURCE})" "compiler   ${compiler} (ROCm at ${root})")
        foreach(line IN LISTS bad)
          list(APPEND facts "says       ${line}")
        endforeach()
        set(fix "-DCMAKE_HIP_ARCHITECTURES=<list>, such as gfx90a")
        if(rule MATCHES "together")
          set(fix "-DCMAKE_HIP_ARCHITECTURES=<list>   (a GPU either with its features in every entry, or in none)")
        elseif(good)
          set(fix "-DCMAKE_HIP_ARCHITECTURES=\"${good}\"")
        endif()
        _cudaops_stop("${caller}: ${rule}" FACTS ${facts} FIX "${fix}" "or a ROCm that knows them: -DROCm_ROOT=<dir>")
      endif()
    endif()
  endif()
  if(entries STREQUAL "")
    set(
      ${out_problem}
      "no architecture is requested, no AMD GPU is visible, and torch's library doesn't say what it was built for"
      PARENT_SCOPE
    )
    return()
  endif()
  _cudaops_state_set(ARCHITECTURES "${entries}")
  _cudaops_state_set(ARCHITECTURES_REQUESTED "${text}")
  _cudaops_state_set(ARCHITECTURES_SOURCE "${request_SOURCE}")
  _cudaops_state_set(ARCHITECTURES_VARIABLE "${entries}")
endfunction()

# _cudaops_hip_arch_request(<prefix>)
#
# The first that says something: CMAKE_HIP_ARCHITECTURES · PYTORCH_ROCM_ARCH (variable, then environment) ·
# AMDGPU_TARGETS · GPU_TARGETS (the same) · the visible GPUs, except in a wheel build · common, what torch was made for.
# Others that ask for something else are named. Sets <prefix>_ENTRIES, _TEXT (as written) and _SOURCE.
function(_cudaops_hip_arch_request prefix)
  set(names "")
  set(texts "")
  _cudaops_state_get(ARCHITECTURES_VARIABLE ours)
  set(value "${CMAKE_HIP_ARCHITECTURES}")
  if(NOT value OR (ours AND value STREQUAL ours))
    set(value "$CACHE{CMAKE_HIP_ARCHITECTURES}")
  endif()
  get_property(help CACHE CMAKE_HIP_ARCHITECTURES PROPERTY HELPSTRING)
  if(value AND NOT (value STREQUAL "$CACHE{CMAKE_HIP_ARCHITECTURES}" AND help STREQUAL "HIP architectures"))
    list(APPEND names CMAKE_HIP_ARCHITECTURES)
    string(REGEX REPLACE "[\\\\; ,]+" " " value "${value}")
    string(STRIP "${value}" value)
    list(APPEND texts "${value}")
  endif()
  foreach(name IN ITEMS PYTORCH_ROCM_ARCH AMDGPU_TARGETS GPU_TARGETS)
    _cudaops_env(${name} environment)
    foreach(place IN ITEMS variable environment)
      set(value "${environment}")
      set(source "environment ${name}")
      if(place STREQUAL "variable")
        set(value "${${name}}")
        set(source "${name}")
        get_property(help CACHE ${name} PROPERTY HELPSTRING)
        if(value STREQUAL "" OR value STREQUAL environment OR help MATCHES "AMD GPU targets|GPU architectures")
          # find_package(hip) caches a default of its own under these names; find_package(Torch) copies the environment.
          continue()
        endif()
      endif()
      if(value)
        string(REGEX REPLACE "[\\\\; ,]+" " " value "${value}")
        string(STRIP "${value}" value)
        list(APPEND names "${source}")
        list(APPEND texts "${value}")
      endif()
    endforeach()
  endforeach()

  set(source "")
  foreach(name text IN ZIP_LISTS names texts)
    if(source STREQUAL "")
      set(source "${name}")
      set(used "${text}")
    elseif(NOT text STREQUAL used)
      _cudaops_status("CudaOps: architectures ${used} (${source}); ${name} asks for ${text} and is not used")
    endif()
  endforeach()
  if(source STREQUAL "")
    set(source "default")
    set(used "common")
    _cudaops_wheel_build(wheel)
    if(NOT wheel)
      _cudaops_visible_amd_gpus(gpus)
      if(gpus)
        set(source "visible GPUs")
        list(JOIN gpus " " used)
      endif()
    endif()
    _cudaops_arch_warn_of_off("find_package(CudaTorchMatch)" CMAKE_HIP_ARCHITECTURES "${used} (${source})" gfx90a)
  endif()
  string(REPLACE " " ";" entries "${used}")
  set(${prefix}_ENTRIES "${entries}" PARENT_SCOPE)
  set(${prefix}_TEXT "${used}" PARENT_SCOPE)
  set(${prefix}_SOURCE "${source}" PARENT_SCOPE)
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
        "${arg_CALLER}: this HIP compiler doesn't build what was asked for."
        FACTS "found     ${found}" "compiler  ${compiler}" "says      ${problem}"
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
