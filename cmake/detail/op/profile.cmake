# SPDX-License-Identifier: Apache-2.0
# The targets <benchmark>.ncu and <benchmark>.nsys (cudaops/nvidia_tools/profiler.py).

_cudaops_use(base/custom_targets base/paths base/programs base/state)

# _cudaops_profile_targets(<benchmark>): never part of ALL.
function(_cudaops_profile_targets name)
  _cudaops_state_read(BACKEND TOOLKIT_ROOT)
  _cudaops_python_tool(python)
  _cudaops_custom_targets_refused(refused)
  if(NOT BACKEND STREQUAL "CUDA" OR python STREQUAL "" OR NOT refused STREQUAL "")
    return()
  endif()
  _cudaops_python_command(command "${python}" nvidia_tools.profiler)
  _cudaops_top_directories(ignored build)
  foreach(tool IN ITEMS ncu nsys)
    add_custom_target(
      ${name}.${tool}
      COMMAND
        ${command} --tool ${tool} --build "${build}" --name ${name} --toolkit "${TOOLKIT_ROOT}" $<TARGET_FILE:${name}>
      COMMENT "Profiling ${name} with ${tool}"
      VERBATIM
      USES_TERMINAL
    )
    add_dependencies(${name}.${tool} ${name})
  endforeach()
endfunction()
