# SPDX-License-Identifier: Apache-2.0
# The decisions of FindCudaTorchMatch: from the facts of torch and toolkits to one backend, with a reason where it is the
# CPU alone. Reads facts, asks the pure layers, writes the state. What is AMD's stands in match/rocm.

_cudaops_use(arch/cuda arch/request base/message base/options base/programs base/replay base/state match/choose match/verdict)

# _cudaops_match_decide()
#
# Torch, then toolkit and verdict, then host compiler and architectures. Stops where the policy says so; else BACKEND is
# CUDA or HIP, or CPU with REASON_CODE and REASON.
function(_cudaops_match_decide)
  foreach(
    option
    IN
    ITEMS VERSION_POLICY BACKEND PROVIDE TORCH_VERSION COMPATIBLE_VERSIONS
  )
    _cudaops_option(CUDAOPS_${option} value)
    string(TOLOWER ${option} lower)
    set(${lower} "${value}")
  endforeach()
  _cudaops_verdict_pairs("${compatible_versions}" pairs)
  if(pairs_ERROR)
    _cudaops_stop(
      "${pairs_ERROR}"
      FACTS "found   ${compatible_versions}" "wanted  <toolkit>:<torch's CUDA>, or !<toolkit>:<torch's CUDA>; separated by ;"
      FIX "-DCUDAOPS_COMPATIBLE_VERSIONS=\"12.1:12.4;!13.0:13.2\""
    )
  endif()
  _cudaops_state_set(BACKEND CPU)
  _cudaops_state_set(VERSION_POLICY "${version_policy}")
  _cudaops_state_set(COMPATIBLE_VERSIONS "${compatible_versions}")

  _cudaops_match_torch()
  _cudaops_state_get(TORCH_VERSION torch)
  if(torch STREQUAL "")
    _cudaops_use(search/torches)
    _cudaops_state_get(TORCH_TRIED tried)
    _cudaops_torch_not_found_texts("${tried}" facts fix)
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
    _cudaops_match_rocm(${required} usable)
    set(gpu HIP)
  else()
    _cudaops_match_toolkit("${backend}" "${provide}" usable)
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
    _cudaops_use(match/explain)
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
      "find_package(CudaTorchMatch): ${wanted} is required and is not available."
      FACTS "found   ${code}: ${reason}" "wanted  ${wanted} (${required})"
      FIX ${fix}
    )
  endif()
endfunction()

# _cudaops_match_torch(): the records of torch and of its Python, as they were found now or before.
function(_cudaops_match_torch)
  _cudaops_replay_begin(TORCH known)
  if(NOT known)
    _cudaops_use(facts/torch search/torches)
    _cudaops_torch_find(found tried)
    if(NOT found)
      _cudaops_state_set(TORCH_TRIED "${tried}")
    endif()
    _cudaops_torch_keys(keys)
    _cudaops_replay_end(TORCH TORCH_TRIED ${keys})
  endif()
endfunction()

# _cudaops_match_toolkit(<backend> <provide> <out-usable>)
#
# Chooses the toolkit and gives the verdict on it and torch.
function(_cudaops_match_toolkit backend provide out_usable)
  set(${out_usable} FALSE PARENT_SCOPE)
  # Asking each nvcc what it is takes seconds.
  if(NOT backend STREQUAL "CPU" OR NOT CMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit)
    _cudaops_match_search(CUDA)
  endif()
  _cudaops_choose(CUDA best given)
  if("TOOLKIT" IN_LIST provide AND NOT given AND NOT backend STREQUAL "CPU")
    _cudaops_use(match/explain)
    _cudaops_match_provide("${best}" best)
  endif()
  _cudaops_choice_record(CUDA "${best}" others any_whole)
  foreach(
    field
    IN
    ITEMS ROOT VERSION SOURCE PROBLEM FIX
  )
    _cudaops_state_get(TOOLKIT_${field} ${field})
  endforeach()
  set(place "")
  if(NOT best STREQUAL "")
    set(place "${ROOT} (${SOURCE})")
  endif()
  _cudaops_judge(CUDA final "${VERSION}" "${place}" ${others})
  _cudaops_state_set(VERDICT "${final_VERDICT}")

  _cudaops_state_get(TORCH_VERSION torch)
  if(backend STREQUAL "CPU")
    _cudaops_match_off(REQUESTED_OFF "CUDA was switched off (CUDAOPS_BACKEND=CPU)" "-DCUDAOPS_BACKEND=AUTO")
    return()
  elseif(final_VERDICT STREQUAL "CPU_TORCH")
    _cudaops_match_off(CPU_TORCH "torch ${torch} is a CPU build" ${final_FIX})
    return()
  elseif(final_VERDICT STREQUAL "ROCM_TORCH")
    _cudaops_match_off(ROCM_TORCH "torch ${torch} is a ROCm build" ${final_FIX})
    return()
  elseif(best STREQUAL "")
    _cudaops_use(match/explain)
    _cudaops_match_no_toolkit(${final_FIX})
    return()
  elseif(final_ACTION STREQUAL "STOP")
    _cudaops_match_off(MISMATCH "${final_REASON}" ${final_FIX})
    _cudaops_stop("${final_HEAD}" FACTS ${final_FACTS} FIX ${final_FIX})
  elseif(NOT PROBLEM STREQUAL "")
    set(fix "-DCUDAToolkit_ROOT=<another toolkit>")
    if(FIX)
      set(fix "${FIX}" "or ${fix}")
    endif()
    _cudaops_match_off(BROKEN_TOOLKIT "the toolkit at ${ROOT} is broken: ${PROBLEM}" ${fix})
    _cudaops_use(match/explain)
    _cudaops_match_broken(${given} ${any_whole} "${others}" ${fix})
    return()
  endif()
  if(others AND NOT given AND NOT final_ACTION STREQUAL "WARN")
    _cudaops_verdict_table(rows ROWS "${VERSION}|${final_VERDICT}|${place}" ${others})
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

# _cudaops_match_search(<CUDA|HIP>): the candidates, as they were found now or before.
function(_cudaops_match_search gpu)
  _cudaops_replay_begin(SEARCH_${gpu} known)
  if(NOT known)
    _cudaops_use(search/search)
    _cudaops_search(${gpu})
    _cudaops_search_keys(${gpu} keys)
    _cudaops_replay_end(SEARCH_${gpu} ${keys})
  endif()
endfunction()

# _cudaops_match_cuda(<out-usable>): host compiler, trial, architectures.
function(_cudaops_match_cuda out_usable)
  set(${out_usable} TRUE PARENT_SCOPE)
  _cudaops_host_compiler_choose()
  _cudaops_state_read(TOOLKIT_NVCC TOOLKIT_ROOT TOOLKIT_VERSION HOST_COMPILER HOST_COMPILER_GIVEN)
  set(section "COMPILES ${TOOLKIT_NVCC} ${HOST_COMPILER} ${HOST_COMPILER_GIVEN}")
  _cudaops_replay_begin("${section}" known)
  if(NOT known)
    _cudaops_use(match/trial)
    _cudaops_state_get(TOOLKIT_HOST_CONFIG host_config)
    _cudaops_host_compiler_verify("${host_config}")
    _cudaops_language_trial(problem)
    if(problem)
      set(
        fix
        "repair the toolkit, or -DCUDAToolkit_ROOT=<another toolkit>"
        "or -DCMAKE_CUDA_HOST_COMPILER=<another compiler>"
      )
      _cudaops_match_off(LANGUAGE_FAILED "nvcc of ${TOOLKIT_ROOT} compiles nothing here: ${problem}" ${fix})
      _cudaops_warn(
        "find_package(CudaTorchMatch): CUDA is off, the toolkit can't compile one kernel."
        FACTS "nvcc    ${TOOLKIT_NVCC}" "host    ${HOST_COMPILER}" "error   ${problem}"
        FIX ${fix}
      )
      set(${out_usable} FALSE PARENT_SCOPE)
      return()
    endif()
    _cudaops_arch_ask_nvcc(supported "${TOOLKIT_NVCC}")
    _cudaops_state_set(TOOLKIT_ARCHS "${supported}")
    _cudaops_replay_end("${section}" TOOLKIT_ARCHS)
  endif()
  _cudaops_arch_match(CUDA problem)
endfunction()

# _cudaops_host_compiler_choose()
#
# nvcc calls CXX unless the user says otherwise. Of several -ccbin nvcc takes the last: NVCC_APPEND_FLAGS stands behind
# CMake's flags, NVCC_PREPEND_FLAGS before them, and NVCC_CCBIN counts where there is no -ccbin. Fills HOST_COMPILER*;
# HOST_COMPILER_GIVEN is FALSE where flags name it in other words than its path, because nvcc warns of a second -ccbin
# that differs.
function(_cudaops_host_compiler_choose)
  _cudaops_env(NVCC_APPEND_FLAGS appended)
  _cudaops_env(NVCC_PREPEND_FLAGS prepended)
  _cudaops_host_compiler_named("${appended}" appended)
  _cudaops_host_compiler_named("${prepended}" prepended)
  _cudaops_cuda_flags(flags)
  _cudaops_host_compiler_named("${flags}" flags)
  set(flags_source CMAKE_CUDA_FLAGS)
  if(NOT DEFINED CMAKE_CUDA_FLAGS AND "$ENV{CUDAFLAGS}" MATCHES "-ccbin|--compiler-bindir")
    set(flags_source "environment CUDAFLAGS")
  endif()
  _cudaops_env(CUDAHOSTCXX CUDAHOSTCXX)
  _cudaops_env(NVCC_CCBIN NVCC_CCBIN)
  _cudaops_cxx(cxx)
  set(path "${cxx}")
  set(source "CXX")
  foreach(
    choice
    IN
    ITEMS
      "appended|environment NVCC_APPEND_FLAGS"
      "flags|${flags_source}"
      "CMAKE_CUDA_HOST_COMPILER|CMAKE_CUDA_HOST_COMPILER"
      "CUDAHOSTCXX|environment CUDAHOSTCXX"
      "prepended|environment NVCC_PREPEND_FLAGS"
      "NVCC_CCBIN|environment NVCC_CCBIN"
  )
    string(REGEX MATCH "^[^|]+" variable "${choice}")
    if(${variable})
      set(path "${${variable}}")
      string(REGEX REPLACE "^[^|]+[|]" "" source "${choice}")
      break()
    endif()
  endforeach()
  set(named "${path}")
  _cudaops_expand_home(path)
  if(NOT path MATCHES "/")
    _cudaops_path_lookup("${path}" found)
    if(found)
      list(GET found 0 path)
    endif()
  elseif(source MATCHES "FLAGS$|NVCC_CCBIN$" AND IS_DIRECTORY "${path}")
    # As nvcc does.
    cmake_path(APPEND path gcc)
  endif()
  set(given TRUE)
  if(source STREQUAL flags_source OR (source MATCHES "FLAGS$" AND NOT path STREQUAL named))
    set(given FALSE)
  endif()
  if(path STREQUAL cxx)
    set(id "${CMAKE_CXX_COMPILER_ID}")
    set(version "${CMAKE_CXX_COMPILER_VERSION}")
  else()
    if(NOT EXISTS "${path}" OR IS_DIRECTORY "${path}")
      set(fix "-DCMAKE_CUDA_HOST_COMPILER=${cxx}")
      if(source MATCHES "(CMAKE_CUDA_FLAGS|CUDAFLAGS|NVCC_APPEND_FLAGS)$")
        set(fix "another -ccbin in ${CMAKE_MATCH_1}, or none")
      endif()
      _cudaops_stop(
        "find_package(CudaTorchMatch): the host compiler for nvcc doesn't exist."
        FACTS "found   ${path} (${source})" "wanted  the path of a C++ compiler, or its name on PATH"
        FIX "${fix}"
      )
    endif()
    _cudaops_use(facts/compiler)
    _cudaops_compiler_identify("${path}" id version)
  endif()
  _cudaops_state_set(HOST_COMPILER "${path}")
  _cudaops_state_set(HOST_COMPILER_ID "${id}")
  _cudaops_state_set(HOST_COMPILER_VERSION "${version}")
  _cudaops_state_set(HOST_COMPILER_SOURCE "${source}")
  _cudaops_state_set(HOST_COMPILER_GIVEN ${given})
endfunction()

# _cudaops_host_compiler_named(<flags> <out>): the value of the last -ccbin among flags of nvcc's, or empty.
function(_cudaops_host_compiler_named flags out)
  set(named "")
  separate_arguments(words UNIX_COMMAND "${flags}")
  set(value FALSE)
  foreach(word IN LISTS words)
    if(value)
      set(named "${word}")
      set(value FALSE)
    elseif(word MATCHES "^(-ccbin|--compiler-bindir)(=(.*))?$")
      set(named "${CMAKE_MATCH_3}")
      # A group that matched nothing may leave its variable undefined.
      if("${CMAKE_MATCH_2}" STREQUAL "")
        set(value TRUE)
      endif()
    endif()
  endforeach()
  set(${out} "${named}" PARENT_SCOPE)
endfunction()
