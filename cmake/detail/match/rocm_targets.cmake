# SPDX-License-Identifier: Apache-2.0
# Imported targets of ROCm: HIP itself, and the libraries that hipify's calls need.

_cudaops_use(base/paths base/state match/interfaces)

# CudaOps::hip: what code that was translated needs to compile and to link, as C++ and as HIP.
# CudaOps::cuda_headers is the same: what needs the runtime's headers says that name for both.
function(_cudaops_targets_rocm)
  _cudaops_state_get(ROCM_ROOT root)
  _cudaops_state_get(ROCM_RUNTIME runtime)
  _cudaops_interface(hip)
  set_target_properties(
    CudaOps::hip
    PROPERTIES
      # HIP's compiler has its own; a second -I would turn its warnings on.
      INTERFACE_INCLUDE_DIRECTORIES "$<$<NOT:$<COMPILE_LANGUAGE:HIP>>:${root}/include>"
      INTERFACE_COMPILE_DEFINITIONS
        "__HIP_PLATFORM_AMD__=1;USE_ROCM=1;HIPBLAS_V2;$<$<COMPILE_LANGUAGE:HIP>:HIP_ENABLE_WARP_SYNC_BUILTINS=1>"
      INTERFACE_COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:HIP>:-fno-gpu-rdc>"
  )
  # clang looks into its ROCm after /usr/include, where another HIP may lie, and CMake takes that directory for implicit.
  if(NOT root STREQUAL "/usr")
    set_property(
      TARGET CudaOps::hip
      APPEND
      PROPERTY INTERFACE_COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:HIP>:SHELL:-isystem \"${root}/include\">"
    )
  endif()
  _cudaops_shared(hip_runtime "${runtime}")
  set_property(TARGET CudaOps::hip PROPERTY INTERFACE_LINK_LIBRARIES CudaOps::hip_runtime)
  # HIP's runtime is what the driver's and the runtime's calls become.
  foreach(name IN ITEMS cuda_headers cudart cuda_driver)
    _cudaops_interface(${name})
    set_property(TARGET CudaOps::${name} PROPERTY INTERFACE_LINK_LIBRARIES CudaOps::hip)
  endforeach()
  _cudaops_targets_rocm_libraries()
endfunction()

# The libraries under the names that they have for CUDA, of the copy that torch loads where it brings one.
function(_cudaops_targets_rocm_libraries)
  _cudaops_state_get(ROCM_RUNTIME runtime)
  _cudaops_state_get(TORCH_LIB_DIR torch_lib)
  _cudaops_state_get(TORCH_KIND kind)
  _cudaops_state_get(ROCM_VERSION version)
  cmake_path(GET runtime PARENT_PATH lib)
  set(directories "${lib}")
  if(kind STREQUAL "HIP")
    list(PREPEND directories "${torch_lib}")
  endif()
  set(pairs "cublas:hipblas;cublasLt:hipblaslt;cusparse:hipsparse;cusolver:hipsolver;cufft:hipfft")
  list(APPEND pairs "curand:hiprand;nvrtc:hiprtc;cudnn:MIOpen;nccl:rccl")
  foreach(pair IN LISTS pairs)
    string(REGEX MATCH "^([^:]+):(.+)$" ignored "${pair}")
    set(name "${CMAKE_MATCH_1}")
    set(file "${CMAKE_MATCH_2}")
    set(location "")
    foreach(directory IN LISTS directories)
      _cudaops_glob_in(in "${directory}")
      file(GLOB found "${in}/lib${file}.so" "${in}/lib${file}.so.[0-9]*")
      if(found)
        list(GET found 0 location)
        break()
      endif()
    endforeach()
    if(location STREQUAL "")
      list(TRANSFORM directories PREPEND "tried   " OUTPUT_VARIABLE facts)
      _cudaops_library_problem(
        ${name}
        "with HIP it is ${file}, which was not found"
        FACTS "wanted  lib${file}.so" ${facts}
        FIX "install ${file} of ROCm ${version}, with its headers" "or -DROCm_ROOT=<a ROCm that has it>"
      )
    else()
      _cudaops_shared(${name} "${location}")
      set_property(TARGET CudaOps::${name} PROPERTY INTERFACE_LINK_LIBRARIES CudaOps::hip)
    endif()
  endforeach()
  _cudaops_library_problem(
    nvml
    "hipify translates no call of NVML, so that it is empty with HIP"
    FIX "link it for CUDA only: if(CudaTorchMatch_CUDA_ENABLED)"
  )
endfunction()
