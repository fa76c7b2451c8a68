# SPDX-License-Identifier: Apache-2.0
# What the options of CudaOpsDebug add to a target: symbols for debuggers and profilers, launches that are waited for,
# ranges of NVTX, fast mathematics.

_cudaops_use(base/message base/options base/state op/provenance)

# _cudaops_debug_check(<debug> <profile>): what the two say against each other and against the build type.
function(_cudaops_debug_check debug profile)
  if(NOT profile)
    return()
  endif()
  if(debug)
    set(found "CUDAOPS_DEBUG=ON")
    set(fix "-DCUDAOPS_DEBUG=OFF, or -DCUDAOPS_PROFILE=OFF")
  elseif("${CMAKE_BUILD_TYPE}" STREQUAL "Debug")
    set(found "CMAKE_BUILD_TYPE=Debug")
    set(fix "-DCMAKE_BUILD_TYPE=Release, or -DCUDAOPS_PROFILE=OFF")
  else()
    return()
  endif()
  _cudaops_stop(
    "CUDAOPS_PROFILE: code for a debugger isn't the code that a profile is to measure."
    FACTS "found   CUDAOPS_PROFILE=ON and ${found}"
    FIX "${fix}"
  )
endfunction()

# _cudaops_debug_check_nvtx(): cudaops/nvtx.h would leave the ranges out without a word.
function(_cudaops_debug_check_nvtx)
  _cudaops_state_get(TOOLKIT_INCLUDE_DIRS includes)
  foreach(include IN LISTS includes)
    if(EXISTS "${include}/nvtx3/nvToolsExt.h")
      return()
    endif()
  endforeach()
  list(JOIN includes " " looked)
  _cudaops_stop(
    "CUDAOPS_NVTX: the toolkit has no headers of NVTX."
    FACTS "wanted  nvtx3/nvToolsExt.h" "looked  ${looked}"
    FIX "apt-get install cuda-nvtx-<major>-<minor>, or pip install nvidia-nvtx into the toolkit's environment" "or -DCUDAOPS_NVTX=OFF"
  )
endfunction()

# _cudaops_debug_target(<target>): the compile options of all of these.
function(_cudaops_debug_target target)
  _cudaops_option(CUDAOPS_DEBUG debug)
  _cudaops_option(CUDAOPS_PROFILE profile)
  _cudaops_debug_check(${debug} ${profile})
  if(debug)
    target_compile_definitions(${target} PRIVATE CUDAOPS_DEBUG=1)
    target_compile_options(
      ${target}
      PRIVATE
        # After those of the build type, which they undo. nvcc takes one -O, that of the build type, for the host code of
        # .cu files.
        "$<$<COMPILE_LANGUAGE:CXX,HIP>:-O0;-g;-UNDEBUG>"
        "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-G;-g;-UNDEBUG>"
        "$<$<COMPILE_LANG_AND_ID:CUDA,Clang>:--cuda-noopt-device-debug;-O0;-g;-UNDEBUG>"
    )
  else()
    if(profile)
      # Debug is one of several build types here, else it was refused.
      target_compile_options(
        ${target}
        PRIVATE
          "$<$<AND:$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>,$<NOT:$<CONFIG:Debug>>>:-lineinfo;--no-compress>"
          "$<$<OR:$<COMPILE_LANG_AND_ID:CUDA,Clang>,$<COMPILE_LANGUAGE:HIP>>:-gline-tables-only>"
      )
    else()
      target_compile_options(
        ${target}
        PRIVATE "$<$<AND:$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>,$<CONFIG:RelWithDebInfo>>:-lineinfo>"
      )
    endif()
    target_compile_options(${target} PRIVATE "$<$<AND:$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>,$<CONFIG:Debug>>:-G>")
  endif()

  _cudaops_option(CUDAOPS_NVTX nvtx)
  _cudaops_state_get(BACKEND backend)
  if(nvtx AND backend STREQUAL "CUDA")
    _cudaops_debug_check_nvtx()
    target_compile_definitions(${target} PRIVATE CUDAOPS_NVTX=1)
  endif()

  _cudaops_option(CUDAOPS_FAST_MATH fast_math)
  get_target_property(property ${target} CUDAOPS_FAST_MATH)
  if(fast_math AND property MATCHES "-NOTFOUND$")
    set_target_properties(${target} PROPERTIES CUDAOPS_FAST_MATH ON)
  endif()
  set(fast "$<BOOL:$<TARGET_PROPERTY:CUDAOPS_FAST_MATH>>")
  target_compile_options(
    ${target}
    PRIVATE
      "$<$<AND:${fast},$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>>:--use_fast_math>"
      "$<$<AND:${fast},$<OR:$<COMPILE_LANG_AND_ID:CUDA,Clang>,$<COMPILE_LANGUAGE:HIP>>>:SHELL:-Xarch_device -ffast-math>"
  )
endfunction()

# _cudaops_debug_launches(<target>)
#
# With CUDAOPS_DEBUG, a source in what is linked that knows each launch (cudaops/detail/debug_launch.h).
function(_cudaops_debug_launches target)
  _cudaops_option(CUDAOPS_DEBUG debug)
  if(NOT debug OR NOT CMAKE_EXECUTABLE_FORMAT STREQUAL "ELF")
    return()
  endif()
  set(source "${CMAKE_CURRENT_BINARY_DIR}/CudaOps/${target}_launches.cpp")
  file(
    CONFIGURE
    OUTPUT "${source}"
    CONTENT "#define CUDAOPS_DEBUG_LAUNCH_WRAPPERS\n#include <cudaops/detail/debug_launch.h>\n"
    @ONLY
  )
  _cudaops_own_source(${target} "${source}")
  foreach(function IN ITEMS cudaLaunchKernel cudaLaunchCooperativeKernel cudaLaunchKernelExC __cudaLaunchKernel)
    target_link_options(${target} PRIVATE "LINKER:--wrap=${function}" "LINKER:--wrap=${function}_ptsz")
  endforeach()
endfunction()
