# SPDX-License-Identifier: Apache-2.0
# Which translator makes HIP of CUDA: what CUDAOPS_HIPIFY names, torch's own, or hipify-perl.

_cudaops_use(base/custom_targets base/message base/options base/paths base/programs base/state facts/python facts/torch search/torches)

# _cudaops_hipify_translator(<command>)
#
# Fills the HIPIFY_* state: KIND (torch or perl), PATH (torch/utils/hipify or hipify-perl), FILES, PYTHON. CUDAOPS_HIPIFY
# wins, then the torch of the match, or the one that a match would find, then hipify-perl.
function(_cudaops_hipify_translator command)
  _cudaops_custom_targets_refused(refused)
  if(NOT refused STREQUAL "")
    _cudaops_stop(
      "${command}: a translation is made by a custom command, and CMake makes none in a directory with ${refused} in its path."
      FACTS "found   ${CMAKE_CURRENT_BINARY_DIR}"
      FIX "cmake -B <a directory without ${refused}>"
    )
  endif()
  _cudaops_option(CUDAOPS_HIPIFY given)
  _cudaops_expand_home(given)
  _cudaops_state_get(TORCH_DIR torch)
  _cudaops_state_get(HIPIFY_FOR known)
  if(known STREQUAL "for ${given}|${torch}")
    return()
  endif()
  set(kind "")
  set(path "")
  set(python "")
  set(facts "")
  if(given)
    _cudaops_hipify_given("${command}" "${given}" kind path python)
  else()
    _cudaops_hipify_of_torch(path python facts)
    set(kind torch)
    if(path STREQUAL "")
      set(kind perl)
      _cudaops_hipify_perl(path)
    endif()
  endif()
  set(fix "-DCUDAOPS_HIPIFY=<python, or site-packages, of a torch 2.9 or later>" "or -DCUDAOPS_HIPIFY=<hipify-perl>")
  if(path STREQUAL "")
    _cudaops_stop(
      "${command}: there is no translator from CUDA to HIP here."
      FACTS ${facts} "tried   hipify-perl on PATH, in ROCM_PATH/bin and /opt/rocm*/bin"
            "wanted  torch's translator (torch/utils/hipify), or hipify-perl"
      FIX ${fix}
    )
  endif()
  if(python STREQUAL "")
    _cudaops_python_explicit(python source)
  endif()
  if(python STREQUAL "")
    _cudaops_python_tool(python)
  endif()
  if(python STREQUAL "")
    _cudaops_stop(
      "${command}: the translation needs a Python."
      FACTS "found   no python3 on PATH" "wanted  Python 3.8 or later; no package"
      FIX "-DPython_EXECUTABLE=<python3>"
    )
  endif()
  set(files "${path}")
  if(kind STREQUAL "torch")
    set(files "${path}/hipify_python.py" "${path}/cuda_to_hip_mappings.py")
    file(STRINGS "${path}/hipify_python.py" lines REGEX "hip_clang_launch" LIMIT_COUNT 1)
    if(lines STREQUAL "")
      _cudaops_stop(
        "${command}: this translator is too old: it can't keep kernel launches as they are."
        FACTS "found   ${path}/hipify_python.py" "wanted  the translator of torch 2.9 or later"
        FIX ${fix}
      )
    endif()
  endif()
  _cudaops_state_get(TORCH_DIR torch)
  _cudaops_state_set(HIPIFY_FOR "for ${given}|${torch}")
  _cudaops_state_set(HIPIFY_KIND "${kind}")
  _cudaops_state_set(HIPIFY_PATH "${path}")
  _cudaops_state_set(HIPIFY_FILES "${files}")
  _cudaops_state_set(HIPIFY_PYTHON "${python}")
  _cudaops_status("HIP translator: ${path}")
endfunction()

# What CUDAOPS_HIPIFY names.
function(
  _cudaops_hipify_given
  command
  given
  out_kind
  out_path
  out_python
)
  cmake_path(ABSOLUTE_PATH given BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE OUTPUT_VARIABLE place)
  string(REGEX REPLACE "(.)/$" "\\1" place "${place}")
  set(found "")
  set(torch "")
  set(${out_python} "" PARENT_SCOPE)
  if(IS_DIRECTORY "${place}")
    _cudaops_glob_in(in "${place}")
    file(GLOB sites "${in}/lib/python3*/site-packages/torch")
    foreach(candidate IN ITEMS "${place}" "${place}/torch" LISTS sites)
      if(EXISTS "${candidate}/utils/hipify/hipify_python.py")
        set(torch "${candidate}")
        break()
      endif()
    endforeach()
    set(found "no torch/utils/hipify/hipify_python.py there")
    if(torch)
      cmake_path(SET bin NORMALIZE "${torch}/../../../../bin")
      foreach(name IN ITEMS python3 python)
        if(torch MATCHES "/(site|dist)-packages/torch$" AND EXISTS "${bin}/${name}")
          set(${out_python} "${bin}/${name}" PARENT_SCOPE)
          break()
        endif()
      endforeach()
    endif()
  elseif(NOT EXISTS "${place}")
    set(found "no such file")
  else()
    cmake_path(GET place FILENAME name)
    if(NOT name MATCHES "^(python|pypy)[0-9.]*t?(\\.exe)?$")
      set(${out_kind} perl PARENT_SCOPE)
      set(${out_path} "${place}" PARENT_SCOPE)
      return()
    endif()
    _cudaops_python_facts(py "${place}")
    set(torch "${py_TORCH}")
    set(found "Python ${py_VERSION}, no torch")
    if(py_PROBLEM)
      set(found "${py_PROBLEM}")
    elseif(torch AND NOT EXISTS "${torch}/utils/hipify/hipify_python.py")
      set(found "no ${torch}/utils/hipify/hipify_python.py")
      set(torch "")
    endif()
    set(${out_python} "${place}" PARENT_SCOPE)
  endif()
  if(torch STREQUAL "")
    _cudaops_stop(
      "${command}: CUDAOPS_HIPIFY names no translator."
      FACTS "found   ${place} (${found})"
            "wanted  hipify-perl, or a torch 2.9 or later: its Python, its site-packages or its own directory"
      FIX "-DCUDAOPS_HIPIFY=<one of them>, or -UCUDAOPS_HIPIFY for the torch found"
    )
  endif()
  set(${out_kind} torch PARENT_SCOPE)
  set(${out_path} "${torch}/utils/hipify" PARENT_SCOPE)
endfunction()

# The translator of the match's torch; without a match, of the torch that it would find.
function(_cudaops_hipify_of_torch out_path out_python out_facts)
  set(${out_path} "" PARENT_SCOPE)
  set(${out_python} "" PARENT_SCOPE)
  set(facts "")
  set(keys "")
  _cudaops_state_get(MATCH_PLACE place)
  if(place STREQUAL "")
    # A match that comes later starts from nothing, as if nobody had looked before.
    _cudaops_torch_keys(keys)
    foreach(key IN LISTS keys)
      _cudaops_state_get(${key} saved_${key})
    endforeach()
    _cudaops_torch_find(found tried)
    foreach(line IN LISTS tried)
      list(APPEND facts "tried   ${line}")
    endforeach()
  endif()
  _cudaops_state_get(TORCH_DIR torch)
  _cudaops_state_get(PYTHON_EXECUTABLE python)
  foreach(key IN LISTS keys)
    _cudaops_state_set(${key} "${saved_${key}}")
  endforeach()
  if(torch)
    if(EXISTS "${torch}/utils/hipify/hipify_python.py")
      set(${out_path} "${torch}/utils/hipify" PARENT_SCOPE)
      set(${out_python} "${python}" PARENT_SCOPE)
    else()
      list(APPEND facts "tried   ${torch}: it holds no utils/hipify (libtorch's zip has no Python part)")
    endif()
  elseif(facts STREQUAL "")
    list(APPEND facts "tried   no torch was found")
  endif()
  set(${out_facts} "${facts}" PARENT_SCOPE)
endfunction()

function(_cudaops_hipify_perl out)
  set(${out} "" PARENT_SCOPE)
  _cudaops_path_lookup(hipify-perl candidates)
  _cudaops_env(ROCM_PATH rocm)
  if(rocm)
    list(APPEND candidates "${rocm}/bin/hipify-perl")
  endif()
  if(NOT DEFINED CMAKE_FIND_USE_CMAKE_SYSTEM_PATH OR CMAKE_FIND_USE_CMAKE_SYSTEM_PATH)
    file(GLOB others "/opt/rocm-*/bin/hipify-perl")
    list(SORT others COMPARE NATURAL ORDER DESCENDING)
    list(APPEND candidates "/opt/rocm/bin/hipify-perl" ${others})
  endif()
  foreach(candidate IN LISTS candidates)
    if(EXISTS "${candidate}" AND NOT IS_DIRECTORY "${candidate}")
      set(${out} "${candidate}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()
