# SPDX-License-Identifier: Apache-2.0
# The targets <name>.ptx and <name>.sass of ops and kernels (cudaops/nvidia_tools/machine_code.py).

_cudaops_use(base/hooks base/paths base/programs base/state op/finish)

# _cudaops_code_targets(): at the end of the configure step, when it is known what links what. Never part of ALL.
function(_cudaops_code_targets)
  _cudaops_state_read(BACKEND TARGETS_REFUSED TOOLKIT_ROOT OPS KERNELS)
  _cudaops_python_tool(python)
  if(NOT BACKEND STREQUAL "CUDA" OR NOT TARGETS_REFUSED STREQUAL "" OR python STREQUAL "")
    return()
  endif()
  _cudaops_python_command(tool "${python}" nvidia_tools.machine_code)
  _cudaops_top_directories(ignored build)
  foreach(name IN LISTS OPS KERNELS)
    _cudaops_target_read(${name} STATE ARCHITECTURES)
    if(STATE STREQUAL "NOT_BUILT" OR ARCHITECTURES STREQUAL "")
      continue()
    endif()
    _cudaops_op_linked_kernels(${name} kernels)
    set(objects "")
    foreach(target IN LISTS name kernels)
      list(APPEND objects "$<TARGET_OBJECTS:${target}>")
    endforeach()
    foreach(kind IN ITEMS ptx sass)
      if(NOT TARGET ${name}.${kind})
        add_custom_target(
          ${name}.${kind}
          COMMAND ${tool} --kind ${kind} --build "${build}" --name ${name} --toolkit "${TOOLKIT_ROOT}" -- ${objects}
          COMMENT "Compiling the .cu files of ${name} to ${kind}"
          COMMAND_EXPAND_LISTS
          VERBATIM
          USES_TERMINAL
        )
        # What it compiles may be generated, and is to be what the build compiles.
        add_dependencies(${name}.${kind} ${name})
      endif()
    endforeach()
  endforeach()
endfunction()
_cudaops_on(targets_known _cudaops_code_targets)
