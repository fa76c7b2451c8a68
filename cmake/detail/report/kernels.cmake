# SPDX-License-Identifier: Apache-2.0
# What kernels take: the target cudaops_kernel_report (cudaops/kernels/build.py), and the tests and targets of budgets
# (cudaops/kernels/budget.py). Both read what was compiled; they compile nothing.

_cudaops_use(base/custom_targets base/hooks base/options base/paths base/programs base/state)

# _cudaops_kernel_list(<target> <out>): writes what a target's kernels are in (cudaops/kernels/targets.py), at generation.
function(_cudaops_kernel_list target out)
  _cudaops_top_directories(ignored build)
  get_property(multi GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  set(file "${build}/CudaOps/kernels/${target}")
  if(multi)
    string(APPEND file ".$<CONFIG>")
  endif()
  string(APPEND file ".txt")
  _cudaops_target_get(${target} KERNEL_LIST written)
  if(NOT written)
    _cudaops_target_set(${target} KERNEL_LIST TRUE)
    set(text "target\t${target}\n")
    get_target_property(type ${target} TYPE)
    if(type MATCHES "^(SHARED|MODULE)_LIBRARY$|^EXECUTABLE$")
      string(APPEND text "library\t$<TARGET_FILE:${target}>\n")
    endif()
    set(objects "$<TARGET_OBJECTS:${target}>")
    string(APPEND text "$<$<BOOL:${objects}>:object\t$<JOIN:${objects},\nobject\t>\n>")
    file(GENERATE OUTPUT "${file}" CONTENT "${text}")
  endif()
  set(${out} "${file}" PARENT_SCOPE)
endfunction()

# _cudaops_kernel_command(<out> <module>): a program that also knows what compiles the occupancy calculator; empty without a
# Python.
function(_cudaops_kernel_command out module)
  set(command "")
  _cudaops_python_tool(python)
  if(NOT python STREQUAL "")
    _cudaops_python_command(command "${python}" ${module})
    _cudaops_state_get(BACKEND backend)
    if(backend STREQUAL "CUDA")
      _cudaops_state_read(TOOLKIT_INCLUDE_DIRS TOOLKIT_NVCC)
      set(include "")
      foreach(directory IN LISTS TOOLKIT_INCLUDE_DIRS)
        if(include STREQUAL "" AND EXISTS "${directory}/cuda_occupancy.h")
          set(include "${directory}")
        endif()
      endforeach()
      cmake_path(GET TOOLKIT_NVCC PARENT_PATH programs)
      _cudaops_store(store)
      _cudaops_cxx(cxx)
      list(
        APPEND command
        "--include=${include}"
        --ptxas
        "${programs}/ptxas"
        --compiler
        "${cxx}"
      )
      list(APPEND command --cache "${store}/occupancy")
    elseif(backend STREQUAL "HIP")
      _cudaops_store(store)
      list(APPEND command --hip-compiler "${CMAKE_HIP_COMPILER}" --cache "${store}/occupancy")
    endif()
  endif()
  set(${out} "${command}" PARENT_SCOPE)
endfunction()

# The target cudaops_kernel_report, once a build tree; never part of ALL.
function(_cudaops_kernel_report_create)
  _cudaops_state_get(TARGETS_REFUSED refused)
  if(TARGET cudaops_kernel_report OR NOT refused STREQUAL "")
    return()
  endif()
  _cudaops_kernel_command(command kernels.build)
  if(command STREQUAL "")
    add_custom_target(
      cudaops_kernel_report
      COMMAND
        "${CMAKE_COMMAND}" -E echo
        "cudaops_kernel_report: needs a Python. Fix: -DPython_EXECUTABLE=<python>, or python3 on PATH at the first configure"
      COMMAND "${CMAKE_COMMAND}" -E false
      VERBATIM
    )
    return()
  endif()
  set(lists "")
  _cudaops_state_get(OPS ops)
  _cudaops_state_get(KERNELS kernels)
  foreach(target IN LISTS ops kernels)
    _cudaops_target_get(${target} STATE state)
    if(NOT state STREQUAL "NOT_BUILT")
      _cudaops_kernel_list(${target} list)
      list(APPEND lists "${list}")
    endif()
  endforeach()
  _cudaops_top_directories(source build)
  add_custom_target(
    cudaops_kernel_report
    COMMAND ${command} --build "${build}" --source "${source}" ${lists}
    COMMENT "Looking what the kernels take"
    USES_TERMINAL
    VERBATIM
  )
endfunction()
_cudaops_on(targets_known _cudaops_kernel_report_create)

# _cudaops_kernel_budget(<target> <file>): the test <target>.kernels and the target <target>.update_kernels, when all is known
# of the target.
function(_cudaops_kernel_budget target file)
  _cudaops_target_read(${target} STATE REASON_CODE REASON)
  _cudaops_state_get(BACKEND backend)
  set(skipped "")
  if(STATE MATCHES "^(NOT_BUILT|CPU_ONLY)$")
    set(skipped "${target} is ${STATE} (${REASON_CODE}: ${REASON})")
  elseif(backend STREQUAL "CPU")
    set(skipped "nothing is built for a GPU here")
  endif()
  _cudaops_kernel_command(command kernels.budget)
  if(skipped STREQUAL "" AND command STREQUAL "")
    set(skipped "no Python")
  endif()
  if(NOT skipped STREQUAL "")
    add_test(NAME ${target}.kernels COMMAND "${CMAKE_COMMAND}" -E echo "SKIPPED: ${skipped}")
    set_tests_properties(${target}.kernels PROPERTIES SKIP_REGULAR_EXPRESSION "^SKIPPED: ")
    return()
  endif()
  _cudaops_kernel_list(${target} list)
  list(APPEND command --budget "${file}")
  add_test(NAME ${target}.kernels COMMAND ${command} "${list}")
  set_tests_properties(${target}.kernels PROPERTIES SKIP_REGULAR_EXPRESSION "^SKIPPED: ")
  _cudaops_custom_targets_refused(refused)
  if(refused STREQUAL "")
    add_custom_target(
      ${target}.update_kernels
      COMMAND ${command} --update "${list}"
      DEPENDS ${target}
      COMMENT "Writing what the kernels of ${target} take"
      VERBATIM
    )
  endif()
endfunction()
