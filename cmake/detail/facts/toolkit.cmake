# SPDX-License-Identifier: Apache-2.0
# Finds CUDA toolkits and reads the facts of each: where it lies, its release, whether its pieces belong together.

_cudaops_use(base/paths base/probe base/stamps base/state base/text facts/version_text)

# _cudaops_toolkit_describe(<prefix> <nvcc> <explicit|hint|found>)
#
# Sets <prefix>_NVCC (the program itself, behind a wrapper; an `explicit` wrapper is there for a reason and stays), _ROOT,
# _VERSION, _INCLUDE_DIRS, _LIB_DIR, _HOST_CONFIG (path of crt/host_config.h), _PROBLEM (empty, or what is wrong), _FIX,
# and _IDENTITY, which tells one toolkit under two spellings.
function(_cudaops_toolkit_describe prefix nvcc kind)
  set(problem "")
  set(fix "")
  file(REAL_PATH "${nvcc}" real)
  # /usr/bin/nvcc may be a script around the real one: its answers must not outlive what is behind it.
  file(SIZE "${real}" size)
  set(stamp "${real}")
  if(size LESS 65536)
    cmake_path(GET real PARENT_PATH directory)
    list(APPEND stamp "${directory}/ptxas" "${directory}/../version.json")
  endif()
  _cudaops_probe(about FILES ${stamp} PROGRAM COMMAND "${nvcc}" --version)
  set(version "")
  if(about_EXIT STREQUAL "0")
    _cudaops_read_nvcc_version("${about_OUTPUT}" version)
  endif()
  if(version STREQUAL "")
    _cudaops_first_line("${about_ERROR}${about_OUTPUT}" line)
    set(problem "nvcc --version prints no release (${about_EXIT}): ${line}")
  endif()

  # nvcc itself knows best where its pieces are: distributions and conda move them.
  set(root "")
  set(includes "")
  set(libs "")
  set(ptxas "")
  set(cicc "")
  if(problem STREQUAL "")
    _cudaops_probe(
      plan
      FILES ${stamp}
      MATCHALL "#\\$ (TOP|_HERE_|CICC_PATH|INCLUDES|SYSTEM_INCLUDES|LIBRARIES)=[^\n]*"
      STREAM ERROR
      PROGRAM
      COMMAND "${nvcc}" --dryrun __cudaops__.cu
    )
    # A script that says one release and runs another's nvcc must not pass for the toolkit it runs.
    if(plan_OUTPUT MATCHES "#\\$ _HERE_=([^;]*)")
      string(STRIP "${CMAKE_MATCH_1}" here)
      file(REAL_PATH "${here}/nvcc" behind)
      if(EXISTS "${behind}" AND NOT behind STREQUAL real)
        _cudaops_probe(about PROGRAM COMMAND "${behind}" --version)
        _cudaops_read_nvcc_version("${about_OUTPUT}" version_behind)
        if(NOT version_behind STREQUAL version)
          set(plan_OUTPUT "")
        endif()
      endif()
    endif()
    foreach(line IN LISTS plan_OUTPUT)
      if(line MATCHES "^#\\$ TOP=(.*)$")
        string(STRIP "${CMAKE_MATCH_1}" root)
      elseif(line MATCHES "^#\\$ _HERE_=(.*)$")
        string(STRIP "${CMAKE_MATCH_1}" here)
        if(EXISTS "${here}/ptxas")
          set(ptxas "${here}/ptxas")
        endif()
        if(EXISTS "${here}/nvcc")
          set(real "${here}/nvcc")
        endif()
      elseif(line MATCHES "^#\\$ CICC_PATH=(.*)$")
        string(STRIP "${CMAKE_MATCH_1}" cicc)
      elseif(line MATCHES "INCLUDES=(.*)$")
        string(REGEX MATCHALL "\"[^\"]+\"" quoted "${CMAKE_MATCH_1}")
        foreach(item IN LISTS quoted)
          string(REGEX REPLACE "^\"(-I)?|\"$" "" item "${item}")
          if(NOT item MATCHES "^-" AND EXISTS "${item}")
            list(APPEND includes "${item}")
          endif()
        endforeach()
      elseif(line MATCHES "LIBRARIES=(.*)$")
        string(REGEX MATCHALL "\"-L[^\"]+\"" quoted "${CMAKE_MATCH_1}")
        foreach(item IN LISTS quoted)
          string(REGEX REPLACE "^\"-L|\"$" "" item "${item}")
          list(APPEND libs "${item}")
        endforeach()
      endif()
    endforeach()
  endif()
  if(root STREQUAL "" OR NOT IS_DIRECTORY "${root}")
    cmake_path(GET real PARENT_PATH bin)
    cmake_path(GET bin PARENT_PATH root)
  endif()
  file(REAL_PATH "${root}" root)
  file(REAL_PATH "${real}" behind)
  file(REAL_PATH "${nvcc}" real)
  if(NOT behind STREQUAL real)
    set(real "${behind}")
    if(kind STREQUAL "explicit")
      set(real "${nvcc}")
    endif()
  endif()

  foreach(
    directory
    IN
    ITEMS
      "${root}/include"
      "${root}/targets/${CMAKE_SYSTEM_PROCESSOR}-linux/include"
      "${root}/targets/sbsa-linux/include"
  )
    _cudaops_follows("${directory}/cuda_runtime.h")
    if(EXISTS "${directory}/cuda_runtime.h")
      list(APPEND includes "${directory}")
    endif()
  endforeach()
  set(all "")
  foreach(directory IN LISTS includes)
    file(REAL_PATH "${directory}" directory)
    list(APPEND all "${directory}")
    # CUDA 13 moved CUB, Thrust and libcu++ to cccl/: nvcc adds it, a host compiler does not.
    _cudaops_follows("${directory}/cccl/cub" "${directory}/cuda_runtime_api.h")
    if(EXISTS "${directory}/cccl")
      list(APPEND all "${directory}/cccl")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES all)

  set(lib "")
  foreach(
    directory
    IN
    LISTS libs
    ITEMS
      "${root}/lib64"
      "${root}/lib"
      "${root}/targets/${CMAKE_SYSTEM_PROCESSOR}-linux/lib"
      "${root}/targets/sbsa-linux/lib"
  )
    _cudaops_follows("${directory}/libcudart_static.a")
    if(EXISTS "${directory}/libcudart_static.a")
      file(REAL_PATH "${directory}" lib)
      break()
    endif()
  endforeach()

  if(problem STREQUAL "")
    if(ptxas STREQUAL "" AND EXISTS "${root}/bin/ptxas")
      set(ptxas "${root}/bin/ptxas")
    endif()
    _cudaops_toolkit_pieces("${root}" "${version}" "${ptxas}" "${cicc}" "${all}" "${lib}" problem fix)
  endif()
  set(host_config "")
  foreach(directory IN LISTS all)
    _cudaops_follows("${directory}/crt/host_config.h")
    if(EXISTS "${directory}/crt/host_config.h")
      set(host_config "${directory}/crt/host_config.h")
      break()
    endif()
  endforeach()

  set(${prefix}_NVCC "${real}" PARENT_SCOPE)
  set(${prefix}_IDENTITY "${root}" PARENT_SCOPE)
  set(${prefix}_ROOT "${root}" PARENT_SCOPE)
  set(${prefix}_VERSION "${version}" PARENT_SCOPE)
  set(${prefix}_INCLUDE_DIRS "${all}" PARENT_SCOPE)
  set(${prefix}_LIB_DIR "${lib}" PARENT_SCOPE)
  set(${prefix}_HOST_CONFIG "${host_config}" PARENT_SCOPE)
  set(${prefix}_PROBLEM "${problem}" PARENT_SCOPE)
  set(${prefix}_FIX "${fix}" PARENT_SCOPE)
endfunction()

# _cudaops_toolkit_pieces(<root> <version> <ptxas> <cicc-dir> <includes> <lib> <out-problem> <out-fix>)
#
# Whether the pieces belong to one release. pip mixes them: nvidia-cuda-nvcc of one release pulls the newest nvvm and
# crt, whose PTX its own ptxas refuses. cicc and crt must not be newer than ptxas; headers must be of nvcc's release.
function(
  _cudaops_toolkit_pieces
  root
  version
  ptxas
  cicc
  includes
  lib
  out_problem
  out_fix
)
  set(problems "")
  set(fix "")
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" release "${version}")

  set(ptxas_version "")
  if(ptxas)
    _cudaops_probe(run PROGRAM COMMAND "${ptxas}" --version)
    _cudaops_read_nvcc_version("${run_OUTPUT}" ptxas_version)
  else()
    list(APPEND problems "no ptxas beside nvcc")
  endif()
  if(cicc)
    _cudaops_follows("${cicc}/cicc")
  endif()
  _cudaops_follows("${root}/bin/ptxas")
  if(cicc AND NOT EXISTS "${cicc}/cicc")
    list(APPEND problems "no cicc (${cicc})")
  endif()
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" ptxas_release "${ptxas_version}")
  if(ptxas_release AND ptxas_release VERSION_LESS release)
    list(APPEND problems "nvcc is ${version}, ptxas ${ptxas_version}")
  endif()

  # Wheels say the version of each piece in the name of its dist-info.
  set(sites "${root}/dist-info" "${root}")
  if(root MATCHES "/nvidia/[^/]+$")
    list(PREPEND sites "${root}/../..")
  endif()
  foreach(site IN LISTS sites)
    _cudaops_glob_in(in "${site}")
    _cudaops_follows_names("${site}")
    foreach(piece IN ITEMS nvvm cuda_crt)
      file(GLOB infos LIST_DIRECTORIES true "${in}/nvidia_${piece}-*.dist-info")
      foreach(info IN LISTS infos)
        string(REGEX MATCH "-([0-9]+\\.[0-9]+[0-9.]*)\\.dist-info$" matched "${info}")
        set(piece_version "${CMAKE_MATCH_1}")
        string(REGEX MATCH "^[0-9]+\\.[0-9]+" piece_release "${piece_version}")
        if(ptxas_release AND piece_release VERSION_GREATER ptxas_release)
          string(REPLACE "_" "-" name "nvidia_${piece}")
          list(APPEND problems "nvcc and ptxas are ${ptxas_version}, but ${name} is ${piece_version}")
        endif()
      endforeach()
    endforeach()
  endforeach()

  set(api "")
  foreach(directory IN LISTS includes)
    if(EXISTS "${directory}/cuda_runtime_api.h")
      file(STRINGS "${directory}/cuda_runtime_api.h" line REGEX "^#define CUDART_VERSION " LIMIT_COUNT 1)
      string(REGEX MATCH "[0-9]+$" number "${line}")
      if(number)
        math(EXPR major "${number} / 1000")
        math(EXPR minor "(${number} % 1000) / 10")
        set(api "${major}.${minor}")
      endif()
      break()
    endif()
  endforeach()
  if(includes STREQUAL "")
    list(APPEND problems "no cuda_runtime.h")
  elseif(api AND NOT api VERSION_EQUAL release)
    list(APPEND problems "nvcc is ${version}, its headers are of CUDA ${api}")
  endif()
  if(lib STREQUAL "")
    list(APPEND problems "no libcudart_static.a")
  endif()

  if(problems)
    if(root MATCHES "/nvidia/cu[0-9]+$")
      _cudaops_state_get(TORCH_TOOLKIT_PIN pin)
      if(NOT pin MATCHES "^${release}(\\.|$)")
        set(pin "${release}.*")
      endif()
      _cudaops_state_get(PYTHON_EXECUTABLE python)
      if(NOT python)
        set(python python3)
      endif()
      set(
        fix
        "${python} -m pip install --force-reinstall --no-deps nvidia-cuda-nvcc==${release}.* nvidia-nvvm==${release}.* nvidia-cuda-crt==${release}.* nvidia-cuda-runtime==${release}.* nvidia-cuda-cccl==${release}.*"
      )
      if(pin)
        # cuda-toolkit 13.0 leaves two of its pieces unpinned, which is how such a mixture comes about.
        set(
          fix
          "${python} -m pip install \"cuda-toolkit[nvcc,cccl,cudart]==${pin}\" \"nvidia-nvvm==${release}.*\" \"nvidia-cuda-crt==${release}.*\""
        )
      endif()
    else()
      set(fix "reinstall the toolkit at ${root}")
    endif()
  endif()
  list(JOIN problems ", and " problems)
  set(${out_problem} "${problems}" PARENT_SCOPE)
  set(${out_fix} "${fix}" PARENT_SCOPE)
endfunction()
