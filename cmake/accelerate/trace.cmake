# SPDX-License-Identifier: Apache-2.0
# The target that says where the time of a build went (cudaops/build_report.py), and the launcher that notes what a
# compile took (launcher/measure.cpp).

_cudaops_use(base/options base/paths base/programs launch/launch launch/launcher)

# _cudaops_build_report_create(): the target cudaops_build_report, once a build tree; never part of ALL.
function(_cudaops_build_report_create)
  if(TARGET cudaops_build_report)
    return()
  endif()
  _cudaops_option(CUDAOPS_BUILD_TRACE trace)
  _cudaops_python_tool(python)
  if(python STREQUAL "")
    add_custom_target(
      cudaops_build_report
      COMMAND
        "${CMAKE_COMMAND}" -E echo
        "cudaops_build_report: needs a Python. Fix: -DPython_EXECUTABLE=<python>, or python3 on PATH at the first configure"
      COMMAND "${CMAKE_COMMAND}" -E false
      VERBATIM
    )
    return()
  endif()
  _cudaops_python_command(tool "${python}" build_report)
  set(measure "")
  if(NOT trace STREQUAL "OFF")
    set(measure --measure-headers)
  endif()
  _cudaops_top_directories(ignored build)
  add_custom_target(
    cudaops_build_report
    COMMAND ${tool} ${measure} "${build}"
    COMMENT "Looking where the time of the build went"
    USES_TERMINAL
    VERBATIM
  )
endfunction()

# _cudaops_trace_target(<target> <mode>): its compiles leave what they took in <build>/CudaOps/trace. <mode> is ON,
# PHASES or OFF.
function(_cudaops_trace_target target mode)
  if(mode STREQUAL "OFF" OR NOT CMAKE_GENERATOR MATCHES "^Ninja")
    return()
  endif()
  _cudaops_top_directories(ignored build)
  set(text "")
  _cudaops_launcher_line(text trace "${build}/CudaOps/trace")
  foreach(language IN ITEMS C CXX CUDA HIP)
    set(phases "")
    if(mode STREQUAL "PHASES" AND language STREQUAL "CUDA")
      set(phases "phases\t1\n")
    endif()
    _cudaops_launch_add(${target} ${language} trace "${text}${phases}")
  endforeach()
endfunction()
