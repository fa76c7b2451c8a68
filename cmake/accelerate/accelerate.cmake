# SPDX-License-Identifier: Apache-2.0
# What makes builds quick: compiler cache, cubins, precompiled headers, stubs for the linker, traces, the number of jobs,
# remembered compiler detections. The core announces what happens (detail/base/hooks.cmake) and knows nothing of this
# folder: without it everything is built the same, in more time. The modules are read when they are needed.

_cudaops_use(base/hooks base/message base/options base/state launch/launch)

# The password of a shared cache stands in the cache entry of CMake until it is hidden: before anything can stop the
# configure, which then leaves the entry as it is.
function(_cudaops_accelerate_package)
  if("$CACHE{CUDAOPS_CACHE_REMOTE}" MATCHES "[@?]")
    _cudaops_use(accelerate/cache_remote)
    _cudaops_cache_remote_hide()
  endif()
endfunction()
_cudaops_on(package _cudaops_accelerate_package)

# Macros: detections are looked for in the caller's CMAKE_MODULE_PATH.
macro(_cudaops_accelerate_detection_begin)
  # With the record of an earlier configure step CMake detects nothing.
  if(NOT EXISTS "${CMAKE_PLATFORM_INFO_DIR}/CMakeCUDACompiler.cmake")
    _cudaops_use(accelerate/seed)
    _cudaops_seed_begin()
  endif()
endmacro()
_cudaops_on(detection_begin _cudaops_accelerate_detection_begin)

macro(_cudaops_accelerate_detection_end)
  if(COMMAND _cudaops_seed_end)
    _cudaops_seed_end()
  endif()
endmacro()
_cudaops_on(detection_end _cudaops_accelerate_detection_end)

function(_cudaops_accelerate_target target)
  _cudaops_use(accelerate/cache accelerate/jobs accelerate/trace)
  _cudaops_cache_target(${target})
  _cudaops_jobs_target(${target})
  _cudaops_option(CUDAOPS_BUILD_TRACE trace)
  _cudaops_trace_target(${target} ${trace})
endfunction()
_cudaops_on(target _cudaops_accelerate_target)

function(_cudaops_accelerate_cache target)
  _cudaops_use(accelerate/cache)
  _cudaops_cache_target(${target})
endfunction()
_cudaops_on(cache _cudaops_accelerate_cache)

function(_cudaops_accelerate_cubins target command)
  _cudaops_use(accelerate/cubins)
  _cudaops_cubins_target(${target} ${command})
endfunction()
_cudaops_on(cubins _cudaops_accelerate_cubins)

function(_cudaops_accelerate_trace target mode)
  _cudaops_use(accelerate/trace)
  _cudaops_trace_target(${target} ${mode})
endfunction()
_cudaops_on(trace _cudaops_accelerate_trace)

function(_cudaops_accelerate_link target)
  _cudaops_target_get(${target} ABI abi)
  if(abi STREQUAL "STABLE")
    _cudaops_use(accelerate/link_stubs)
    _cudaops_link_stubs_target(${target})
  endif()
endfunction()
_cudaops_on(link _cudaops_accelerate_link)

function(_cudaops_accelerate_stable_op target)
  _cudaops_use(accelerate/precompile)
  _cudaops_op_precompile(${target})
endfunction()
_cudaops_on(stable_op _cudaops_accelerate_stable_op)

function(_cudaops_accelerate_targets_known)
  _cudaops_state_get(TARGETS_REFUSED refused)
  _cudaops_use(accelerate/cache accelerate/jobs accelerate/trace)
  if(refused STREQUAL "")
    _cudaops_build_report_create()
  endif()
  _cudaops_jobs_decide()
  _cudaops_cache_remote_finish()
  if(refused STREQUAL "")
    _cudaops_cache_summary_create()
  else()
    _cudaops_status("CudaOps: CMake makes no custom target in a directory with ${refused} in its path, so that there is no cudaops_build_report, and no line of the compiler cache after a build")
  endif()
endfunction()
_cudaops_on(targets_known _cudaops_accelerate_targets_known)

function(_cudaops_accelerate_report)
  _cudaops_use(accelerate/cache accelerate/jobs)
  _cudaops_cache_report(cache line)
  _cudaops_jobs_report(jobs)
  _cudaops_launch_report(launch)
  _cudaops_state_set(REPORT_MEMBERS "  \"cache\": ${cache},\n  \"jobs\": ${jobs},\n  \"launch\": ${launch},\n")
  _cudaops_state_set(REPORT_LINE "${line}")
endfunction()
_cudaops_on(report_members _cudaops_accelerate_report)

function(_cudaops_accelerate_configured)
  _cudaops_jobs_apply()
endfunction()
_cudaops_on(configured _cudaops_accelerate_configured)
