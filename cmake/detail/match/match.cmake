# SPDX-License-Identifier: Apache-2.0
# The decisions of FindCudaTorchMatch: from the facts of torch and toolkits to one backend, with a reason where it is the
# CPU alone. Reads facts, asks the pure layers, writes the state. What is AMD's stands in match_rocm.

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

if(NOT COMMAND _cudaops_use)
  include("${CMAKE_CURRENT_LIST_DIR}/../base/use.cmake")
endif()
_cudaops_use(arch/request base/message base/options base/state facts/toolkit facts/torch match/languages match/verdict search/toolkits search/torches)

# _cudaops_match_begin(<out-first>)
#
# <out-first> is TRUE for the call that makes the match of this build tree. A later one with other inputs would have to
# answer with facts that don't belong to them, so it is refused.
function(_cudaops_match_begin out_first)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT "CXX" IN_LIST languages)
    _cudaops_stop(
      "find_package(CudaTorchMatch): needs CXX."
      FACTS "found   project(${PROJECT_NAME}) with languages: ${languages}" "wanted  CXX among them; CUDA is enabled here"
      FIX "project(${PROJECT_NAME} LANGUAGES CXX)"
    )
  endif()
  if(NOT CudaTorchMatch_FIND_COMPONENTS STREQUAL "")
    foreach(component IN LISTS CudaTorchMatch_FIND_COMPONENTS)
      if(NOT component MATCHES "^(CUDA|HIP)$")
        _cudaops_stop(
          "find_package(CudaTorchMatch): there is no component ${component}."
          FACTS "found   COMPONENTS ${CudaTorchMatch_FIND_COMPONENTS}" "wanted  CUDA or HIP"
          FIX "find_package(CudaTorchMatch REQUIRED COMPONENTS CUDA)"
        )
      endif()
    endforeach()
  endif()

  _cudaops_match_inputs(inputs)
  _cudaops_state_get(MATCH_PLACE place)
  if(place STREQUAL "")
    _cudaops_state_set(MATCH_INPUTS "${inputs}")
    _cudaops_state_set(MATCH_PLACE "${CMAKE_CURRENT_SOURCE_DIR}")
    set(${out_first} TRUE PARENT_SCOPE)
    return()
  endif()
  set(${out_first} FALSE PARENT_SCOPE)
  _cudaops_state_get(MATCH_INPUTS first)
  foreach(before now IN ZIP_LISTS first inputs)
    if(before STREQUAL now)
      continue()
    endif()
    string(REGEX MATCH "^[^=]+" name "${now}")
    string(REGEX REPLACE "^[^=]+=" "" value_before "${before}")
    string(REGEX REPLACE "^[^=]+=" "" value_now "${now}")
    _cudaops_match_same_torch("${name}" "${value_before}" "${value_now}" same)
    if(same)
      continue()
    endif()
    _cudaops_stop(
      "find_package(CudaTorchMatch): one build tree has one match."
      FACTS
        "first   ${name}=${value_before} (${place}/CMakeLists.txt)"
        "now     ${name}=${value_now} (${CMAKE_CURRENT_SOURCE_DIR}/CMakeLists.txt)"
      FIX "set ${name} once, before the first find_package(CudaTorchMatch)"
    )
  endforeach()
endfunction()

# The inputs as <name>=<value>, in a fixed order.
function(_cudaops_match_inputs out)
  set(inputs "")
  foreach(
    name
    IN
    ITEMS
      Torch_DIR
      Torch_ROOT
      Python_EXECUTABLE
      Python3_EXECUTABLE
      CUDAToolkit_ROOT
      ROCm_ROOT
      TORCH_CUDA_ARCH_LIST
      CUDAOPS_VERSION_POLICY
      CUDAOPS_COMPATIBLE_VERSIONS
      CUDAOPS_BACKEND
      CUDAOPS_PROVIDE
      CUDAOPS_TORCH_VERSION
  )
    string(REPLACE ";" "," value "${${name}}")
    list(APPEND inputs "${name}=${value}")
  endforeach()
  set(${out} "${inputs}" PARENT_SCOPE)
endfunction()

# A find_package(Torch), find_package(Python) or find_package(CUDAToolkit) of the project's own sets such variables
# between two calls of ours: no other input while they name the torch and the toolkit in use, or an interpreter where
# none was asked for.
function(_cudaops_match_same_torch name before now out)
  set(${out} FALSE PARENT_SCOPE)
  if(name MATCHES "^Torch_" AND NOT now STREQUAL "")
    _cudaops_torch_root_of("${now}" root)
    _cudaops_state_get(TORCH_DIR dir)
    if(root STREQUAL "${dir}")
      set(${out} TRUE PARENT_SCOPE)
    endif()
  elseif(name MATCHES "^Python" AND before STREQUAL "")
    set(${out} TRUE PARENT_SCOPE)
  elseif(name STREQUAL "CUDAToolkit_ROOT" AND before STREQUAL "")
    # find_package(CUDAToolkit) sets it, to a directory above whatever nvcc it met on PATH.
    _cudaops_nvcc_of("${now}" nvcc)
    set(root "")
    if(nvcc)
      _cudaops_toolkit_describe(now "${nvcc}")
      _cudaops_state_get(TOOLKIT_ROOT root)
    endif()
    if(nvcc STREQUAL "" OR now_ROOT STREQUAL root)
      set(${out} TRUE PARENT_SCOPE)
    endif()
  elseif(name STREQUAL "TORCH_CUDA_ARCH_LIST" AND now STREQUAL "")
    set(${out} TRUE PARENT_SCOPE)
  elseif(name STREQUAL "CUDAToolkit_ROOT" AND (TORCH_FOUND OR Torch_FOUND))
    # Torch's own file sets it to wherever its search ended.
    set(${out} TRUE PARENT_SCOPE)
  endif()
endfunction()

# _cudaops_match_resolve()
#
# Torch, then toolkit and verdict, then host compiler and architectures. Stops where the policy says so; else BACKEND is
# CUDA or HIP, or CPU with REASON_CODE and REASON.
function(_cudaops_match_resolve)
  foreach(
    option
    IN
    ITEMS VERSION_POLICY BACKEND PROVIDE TORCH_VERSION COMPATIBLE_VERSIONS
  )
    _cudaops_option(CUDAOPS_${option} value)
    string(TOLOWER ${option} lower)
    set(${lower} "${value}")
  endforeach()
  _cudaops_check_option_names()
  _cudaops_verdict_pairs("${compatible_versions}" pairs)
  if(pairs_ERROR)
    _cudaops_stop(
      "${pairs_ERROR}"
      FACTS "found   ${compatible_versions}" "wanted  <toolkit>:<torch's CUDA>, or !<toolkit>:<torch's CUDA>; separated by ;"
      FIX "-DCUDAOPS_COMPATIBLE_VERSIONS=\"12.1:12.4;!13.0:13.2\""
    )
  endif()
  _cudaops_state_set(BACKEND CPU)

  _cudaops_torch_find(torch_found tried)
  if(NOT torch_found)
    _cudaops_torch_not_found_texts("${tried}" facts fix)
    _cudaops_state_set(TORCH_TRIED "${tried}")
    _cudaops_state_set(VERDICT NO_TORCH)
    _cudaops_state_set(REASON_CODE NO_TORCH)
    _cudaops_state_set(REASON "no torch was found")
    if(CudaTorchMatch_FIND_REQUIRED)
      set(wanted "")
      if(CudaTorchMatch_FIND_VERSION_COMPLETE)
        set(wanted " ${CudaTorchMatch_FIND_VERSION_COMPLETE}")
      endif()
      _cudaops_stop("find_package(CudaTorchMatch): no torch${wanted} was found." FACTS ${facts} FIX ${fix})
    endif()
  endif()

  _cudaops_state_get(TORCH_KIND kind)
  if(backend STREQUAL "HIP" OR (backend STREQUAL "AUTO" AND kind STREQUAL "HIP"))
    set(required FALSE)
    if(backend STREQUAL "HIP" OR (CudaTorchMatch_FIND_REQUIRED AND CudaTorchMatch_FIND_REQUIRED_HIP))
      set(required TRUE)
    endif()
    _cudaops_use(match/rocm)
    _cudaops_match_rocm("${version_policy}" "${compatible_versions}" ${required} usable)
    set(gpu HIP)
  else()
    _cudaops_match_toolkit("${version_policy}" "${compatible_versions}" "${backend}" "${provide}" usable)
    if(usable)
      _cudaops_match_cuda(usable)
    endif()
    set(gpu CUDA)
  endif()
  if(usable)
    _cudaops_state_set(BACKEND ${gpu})
  endif()

  _cudaops_state_get(BACKEND have)
  set(wanted "")
  set(required "")
  foreach(language IN ITEMS CUDA HIP)
    if(backend STREQUAL language)
      set(wanted ${language})
      set(required "CUDAOPS_BACKEND=${language}")
    endif()
    if(CudaTorchMatch_FIND_REQUIRED AND CudaTorchMatch_FIND_REQUIRED_${language})
      set(wanted ${language})
      set(required "COMPONENTS ${language}")
      if(NOT have STREQUAL language)
        break()
      endif()
    endif()
  endforeach()
  if(wanted AND NOT have STREQUAL wanted)
    _cudaops_state_get(REASON_CODE code)
    _cudaops_state_get(REASON reason)
    _cudaops_match_fix("${code}" fix)
    if(have STREQUAL "CUDA" OR (wanted STREQUAL "HIP" AND NOT gpu STREQUAL "HIP"))
      _cudaops_state_get(TORCH_VERSION torch)
      set(code ${kind}_TORCH)
      set(reason "torch ${torch} isn't built for ROCm")
      set(
        fix
        "-DPython_EXECUTABLE=<python>   (one with a torch for ROCm)"
        "or -DCUDAOPS_BACKEND=HIP   (kernels, and stable ops for another torch)"
      )
    elseif(wanted STREQUAL "CUDA" AND gpu STREQUAL "HIP")
      _cudaops_state_get(TORCH_VERSION torch)
      set(code ROCM_TORCH)
      set(reason "torch ${torch} is built for ROCm")
      set(fix "-DPython_EXECUTABLE=<python>   (one with a torch for CUDA: pip install torch brings it)")
    endif()
    _cudaops_stop(
      "find_package(CudaTorchMatch): ${wanted} is required and can't be had."
      FACTS "found   ${code}: ${reason}" "wanted  ${wanted} (${required})"
      FIX ${fix}
    )
  endif()
endfunction()

# _cudaops_match_failure(<out>): why torch was not found, with the places tried, for a find_package without REQUIRED.
function(_cudaops_match_failure out)
  _cudaops_state_get(TORCH_TRIED tried)
  list(PREPEND tried "no torch was found")
  list(JOIN tried "\n      tried   " text)
  string(REPLACE ";" "," text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# _cudaops_match_fix(<reason-code> <out>): the cure for a reason that CUDA is off.
function(_cudaops_match_fix code out)
  _cudaops_state_get(REASON_FIX fix)
  if(code STREQUAL "NO_TORCH")
    _cudaops_state_get(TORCH_TRIED tried)
    _cudaops_torch_not_found_texts("${tried}" facts fix)
  elseif(code STREQUAL "NO_ARCHITECTURE" AND fix STREQUAL "")
    _cudaops_state_get(BACKEND gpu)
    if(NOT gpu STREQUAL "HIP")
      set(gpu CUDA)
    endif()
    set(fix "-DCMAKE_${gpu}_ARCHITECTURES=<one that the code supports>")
  elseif(fix STREQUAL "")
    set(fix "see the reason above")
  endif()
  set(${out} "${fix}" PARENT_SCOPE)
endfunction()

# _cudaops_match_off(<code> <reason> <line of the cure>...)
function(_cudaops_match_off code reason)
  _cudaops_state_set(REASON_CODE "${code}")
  _cudaops_state_set(REASON "${reason}")
  _cudaops_state_set(REASON_FIX "${ARGN}")
endfunction()

# _cudaops_match_toolkit(<policy> <compatible-versions> <backend> <provide> <out-usable>)
#
# Chooses the toolkit and gives the verdict on it and torch.
function(
  _cudaops_match_toolkit
  policy
  compatible
  backend
  provide
  out_usable
)
  set(${out_usable} FALSE PARENT_SCOPE)
  _cudaops_state_get(TORCH_VERSION torch)
  _cudaops_state_get(TORCH_CUDA torch_cuda)
  _cudaops_state_get(TORCH_HIP torch_hip)
  _cudaops_state_get(TORCH_SOURCE torch_source)
  set(
    about_torch
    TORCH
    "${torch}"
    TORCH_CUDA
    "${torch_cuda}"
    TORCH_HIP
    "${torch_hip}"
    TORCH_SOURCE
    "${torch_source}"
    POLICY
    "${policy}"
  )

  _cudaops_toolkit_candidates(nvccs sources kinds)

  # Describe each once; one toolkit under two spellings is one candidate.
  set(count 0)
  set(roots "")
  set(explicit "")
  set(programs "")
  foreach(nvcc source kind IN ZIP_LISTS nvccs sources kinds)
    # Of links to directories alone: nvcc looks beside the link that it was started by.
    cmake_path(GET nvcc PARENT_PATH directory)
    cmake_path(GET nvcc FILENAME file)
    file(REAL_PATH "${directory}" directory)
    if("${directory}/${file}" IN_LIST programs)
      continue()
    endif()
    list(APPEND programs "${directory}/${file}")
    _cudaops_toolkit_describe(tk "${nvcc}")
    if(tk_ROOT IN_LIST roots)
      continue()
    endif()
    list(APPEND roots "${tk_ROOT}")
    # A wrapper that the user named is there for a reason; one that PATH led to is a detour.
    if(kind STREQUAL "explicit" AND tk_WRAPPER)
      set(tk_NVCC "${tk_WRAPPER}")
    endif()
    foreach(
      field
      IN
      ITEMS NVCC ROOT VERSION INCLUDE_DIRS LIB_DIR HOST_CONFIG PROBLEM FIX
    )
      set(c${count}_${field} "${tk_${field}}")
    endforeach()
    set(c${count}_SOURCE "${source}")
    set(c${count}_KIND "${kind}")
    _cudaops_verdict(
      judged
      TOOLKIT "${tk_VERSION}"
      TOOLKIT_SOURCE "${tk_ROOT} (${source})"
      ${about_torch}
      COMPATIBLE_VERSIONS "${compatible}"
    )
    set(c${count}_VERDICT "${judged_VERDICT}")
    set(c${count}_FITS "${judged_FITS}")
    set(c${count}_RANK "${judged_RANK}")
    if(tk_VERSION STREQUAL "")
      set(c${count}_RANK 0)
    endif()
    if(kind STREQUAL "explicit")
      list(APPEND explicit ${count})
    endif()
    math(EXPR count "${count} + 1")
  endforeach()

  # Two settings that name two toolkits contradict each other.
  list(LENGTH explicit given)
  if(given GREATER 1)
    list(GET explicit 0 a)
    list(GET explicit 1 b)
    if(c${b}_SOURCE MATCHES "^environment")
      _cudaops_status("CudaTorchMatch: ${c${a}_SOURCE} names ${c${a}_ROOT}; ${c${b}_SOURCE} (${c${b}_ROOT}) is passed over")
    else()
      _cudaops_stop(
        "find_package(CudaTorchMatch): two settings name two CUDA toolkits."
        FACTS
          "${c${a}_SOURCE}: ${c${a}_ROOT} (CUDA ${c${a}_VERSION})"
          "${c${b}_SOURCE}: ${c${b}_ROOT} (CUDA ${c${b}_VERSION})"
        FIX "keep one of them   (cmake --fresh forgets a compiler of an earlier configure)"
      )
    endif()
  endif()

  # An explicit choice wins; else one that fits before one that doesn't, whole before broken, the better verdict, and
  # the order of the search: a broken toolkit that fits is worth mending, a whole one that doesn't is of no use.
  set(best "")
  set(best_score -1)
  set(any_whole FALSE)
  if(given)
    list(GET explicit 0 best)
  elseif(count GREATER 0)
    math(EXPR last "${count} - 1")
    foreach(i RANGE ${last})
      set(score ${c${i}_RANK})
      if(c${i}_FITS)
        math(EXPR score "${score} + 20")
      endif()
      if(c${i}_PROBLEM STREQUAL "")
        math(EXPR score "${score} + 10")
        set(any_whole TRUE)
      endif()
      if(score GREATER best_score)
        set(best ${i})
        set(best_score ${score})
      endif()
    endforeach()
  endif()

  _cudaops_state_get(TORCH_KIND kind)
  set(pin "")
  if("TOOLKIT" IN_LIST provide AND kind STREQUAL "CUDA" AND NOT given AND NOT backend STREQUAL "CPU")
    if(best STREQUAL "" OR NOT c${best}_FITS OR NOT c${best}_PROBLEM STREQUAL "")
      _cudaops_state_get(TORCH_TOOLKIT_PIN pin)
      set(why "pinned by torch ${torch}")
      if(pin STREQUAL "")
        set(pin "${torch_cuda}")
        set(why "torch ${torch} was built with CUDA ${torch_cuda}")
      endif()
      _cudaops_use(search/provide)
      _cudaops_provide_toolkit("${pin}" "${why}" root)
      _cudaops_toolkit_describe(tk "${root}/bin/nvcc")
      set(best ${count})
      foreach(
        field
        IN
        ITEMS NVCC ROOT VERSION INCLUDE_DIRS LIB_DIR HOST_CONFIG PROBLEM FIX
      )
        set(c${best}_${field} "${tk_${field}}")
      endforeach()
      set(c${best}_SOURCE "CUDAOPS_PROVIDE=TOOLKIT")
      set(c${best}_KIND found)
      math(EXPR count "${count} + 1")
    endif()
  endif()

  # The final verdict, with the others as a table for its text.
  set(others "")
  set(candidates "")
  if(count GREATER 0)
    math(EXPR last "${count} - 1")
    foreach(i RANGE ${last})
      set(word "${c${i}_VERDICT}")
      if(NOT c${i}_PROBLEM STREQUAL "")
        set(word "broken: ${c${i}_PROBLEM}")
      endif()
      if(NOT i STREQUAL best)
        list(APPEND others "${c${i}_VERSION}|${word}|${c${i}_ROOT} (${c${i}_SOURCE})")
      endif()
    endforeach()
  endif()
  set(version "")
  set(toolkit_source "")
  if(NOT best STREQUAL "")
    set(version "${c${best}_VERSION}")
    set(toolkit_source "${c${best}_ROOT} (${c${best}_SOURCE})")
  endif()
  _cudaops_verdict(
    final
    TOOLKIT "${version}"
    TOOLKIT_SOURCE "${toolkit_source}"
    ${about_torch}
    COMPATIBLE_VERSIONS "${compatible}"
    CANDIDATES ${others}
  )
  if(NOT best STREQUAL "")
    set(c${best}_VERDICT "${final_VERDICT}")
    foreach(
      field
      IN
      ITEMS NVCC ROOT VERSION SOURCE INCLUDE_DIRS LIB_DIR HOST_CONFIG PROBLEM FIX
    )
      _cudaops_state_set(TOOLKIT_${field} "${c${best}_${field}}")
    endforeach()
  endif()
  if(count GREATER 0)
    math(EXPR last "${count} - 1")
    foreach(i RANGE ${last})
      # The report's rows; a bar can't stand in a path that CMake handles as a list.
      _cudaops_state_append(
        CANDIDATES
        "${c${i}_NVCC}|${c${i}_VERSION}|${c${i}_SOURCE}|${c${i}_VERDICT}|${c${i}_PROBLEM}"
      )
      if(c${i}_KIND STREQUAL "hint" AND NOT i STREQUAL best)
        set(word "${c${i}_VERDICT}")
        if(NOT c${i}_PROBLEM STREQUAL "")
          set(word "broken: ${c${i}_PROBLEM}")
        endif()
        _cudaops_status(
          "CudaTorchMatch: ${c${i}_SOURCE} names ${c${i}_ROOT} (CUDA ${c${i}_VERSION}, ${word}); ${c${best}_ROOT} (${c${best}_SOURCE}) is used instead"
        )
      endif()
    endforeach()
  endif()
  _cudaops_state_set(VERDICT "${final_VERDICT}")

  if(backend STREQUAL "CPU")
    _cudaops_match_off(REQUESTED_OFF "CUDA was switched off (CUDAOPS_BACKEND=CPU)" "-DCUDAOPS_BACKEND=AUTO")
    return()
  endif()
  if(final_VERDICT STREQUAL "CPU_TORCH")
    _cudaops_match_off(CPU_TORCH "torch ${torch} is a CPU build" ${final_FIX})
    return()
  elseif(final_VERDICT STREQUAL "ROCM_TORCH")
    _cudaops_match_off(ROCM_TORCH "torch ${torch} is a ROCm build" ${final_FIX})
    return()
  elseif(best STREQUAL "")
    _cudaops_toolkit_headers_only(headers_only)
    set(reason "no CUDA toolkit was found")
    if(headers_only)
      set(reason "no CUDA toolkit was found: ${headers_only}")
    endif()
    if(NOT torch STREQUAL "")
      _cudaops_match_off(NO_TOOLKIT "${reason}" ${final_FIX})
    endif()
    _cudaops_state_get(TORCH_TOOLKIT_PIN pin)
    if(headers_only AND pin MATCHES "^1[3-9]")
      _cudaops_state_get(PYTHON_EXECUTABLE python)
      _cudaops_status("CudaTorchMatch: nvcc for it: ${python} -m pip install \"cuda-toolkit[nvcc,cccl,cudart]==${pin}\", or -DCUDAOPS_PROVIDE=TOOLKIT")
    endif()
    return()
  endif()

  if(final_ACTION STREQUAL "STOP")
    _cudaops_match_off(MISMATCH "${final_REASON}" ${final_FIX})
    _cudaops_stop("${final_HEAD}" FACTS ${final_FACTS} FIX ${final_FIX})
  endif()
  if(NOT c${best}_PROBLEM STREQUAL "")
    set(fix "${c${best}_FIX}" "or -DCUDAToolkit_ROOT=<another toolkit>")
    _cudaops_match_off(BROKEN_TOOLKIT "the toolkit at ${c${best}_ROOT} is broken: ${c${best}_PROBLEM}" ${fix})
    if(given)
      _cudaops_stop(
        "find_package(CudaTorchMatch): the CUDA toolkit that was asked for is broken."
        FACTS "found   ${c${best}_ROOT} (${c${best}_SOURCE})" "wrong   ${c${best}_PROBLEM}"
        FIX ${fix}
      )
    endif()
    set(broken "find_package(CudaTorchMatch): CUDA is off, the only toolkit found is broken.")
    if(any_whole)
      set(broken "find_package(CudaTorchMatch): CUDA is off, the toolkit that fits torch is broken.")
    elseif(others)
      set(broken "find_package(CudaTorchMatch): CUDA is off, every toolkit found is broken.")
    endif()
    set(others_FACTS "")
    _cudaops_verdict_table(rows ROWS ${others})
    foreach(row IN LISTS rows)
      string(REPLACE ";" "\\;" row "${row}")
      list(APPEND others_FACTS "others  ${row}")
    endforeach()
    _cudaops_warn(
      "${broken}"
      FACTS
        "found   ${c${best}_ROOT} (${c${best}_SOURCE}), CUDA ${c${best}_VERSION}"
        "wrong   ${c${best}_PROBLEM}"
        ${others_FACTS}
      FIX ${fix}
    )
    return()
  endif()
  if(others AND NOT given AND NOT final_ACTION STREQUAL "WARN")
    _cudaops_verdict_table(rows ROWS "${version}|${final_VERDICT}|${toolkit_source}" ${others})
    list(JOIN rows "\n     " rows)
    _cudaops_status("CudaTorchMatch: toolkits found, of which the first is used:\n     ${rows}")
  endif()
  if(final_ACTION STREQUAL "WARN")
    _cudaops_warn("${final_HEAD}" FACTS ${final_FACTS} FIX ${final_FIX})
  elseif(final_ACTION STREQUAL "STATUS" AND final_REASON)
    _cudaops_status("CudaTorchMatch: ${final_REASON}")
  endif()
  set(${out_usable} TRUE PARENT_SCOPE)
endfunction()

# _cudaops_match_cuda(<out-usable>): host compiler, trial, architectures.
function(_cudaops_match_cuda out_usable)
  set(${out_usable} TRUE PARENT_SCOPE)
  _cudaops_host_compiler_choose()
  _cudaops_state_get(TOOLKIT_HOST_CONFIG host_config)
  _cudaops_host_compiler_verify("${host_config}")

  _cudaops_state_get(TOOLKIT_NVCC nvcc)
  _cudaops_state_get(TOOLKIT_ROOT root)
  _cudaops_language_trial(problem)
  if(problem)
    set(
      fix
      "mend the toolkit, or -DCUDAToolkit_ROOT=<another toolkit>"
      "or -DCMAKE_CUDA_HOST_COMPILER=<another compiler>"
    )
    _cudaops_match_off(LANGUAGE_FAILED "nvcc of ${root} compiles nothing here: ${problem}" ${fix})
    _cudaops_state_get(HOST_COMPILER host)
    _cudaops_warn(
      "find_package(CudaTorchMatch): CUDA is off, the toolkit can't compile one kernel."
      FACTS "nvcc    ${nvcc}" "host    ${host}" "error   ${problem}"
      FIX ${fix}
    )
    set(${out_usable} FALSE PARENT_SCOPE)
    return()
  endif()

  _cudaops_state_get(TOOLKIT_VERSION version)
  _cudaops_arch_ask_nvcc(supported "${nvcc}")
  _cudaops_state_set(TOOLKIT_ARCHS "${supported}")
  _cudaops_arch_match(SUPPORTED ${supported} TOOLKIT_VERSION "${version}" TOOLKIT_ROOT "${root}")
endfunction()
