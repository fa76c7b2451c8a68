# SPDX-License-Identifier: Apache-2.0
# Imported targets for torch and for CUDA's libraries, made from files. GLOBAL, and created once in a build tree.

_cudaops_use(base/replay base/state match/cuda_libraries match/interfaces match/openmp)

# _cudaops_targets_create()
#
# All names that the documentation has, on every machine. Without CUDA and HIP their libraries are empty; what is missing
# although it would be needed is told to whoever links it.
function(_cudaops_targets_create)
  _cudaops_targets_openmp()
  if(TARGET CudaOps::cuda_headers)
    return()
  endif()
  _cudaops_state_get(TORCH_VERSION torch)
  _cudaops_state_get(BACKEND backend)
  _cudaops_state_get(TORCH_LIB_DIR lib)
  if(torch AND EXISTS "${lib}/libtorch_cpu.a" AND NOT EXISTS "${lib}/libtorch_cpu.so")
    _cudaops_targets_static_torch()
  elseif(torch)
    _cudaops_targets_torch(${backend})
  else()
    _cudaops_use(match/explain)
    _cudaops_match_fix(NO_TORCH fix)
    foreach(name IN ITEMS torch torch_stable torch_stable_cuda torch_python)
      _cudaops_library_problem(${name} "no torch was found" FIX ${fix})
    endforeach()
  endif()
  if(backend STREQUAL "CUDA")
    _cudaops_targets_toolkit()
    _cudaops_targets_cuda_libraries()
  elseif(backend STREQUAL "HIP")
    _cudaops_use(match/rocm_targets)
    _cudaops_targets_rocm()
  else()
    _cudaops_library_names(libraries)
    foreach(name IN ITEMS cuda_headers cudart LISTS libraries)
      _cudaops_interface(${name})
    endforeach()
  endif()
  if(NOT TARGET CudaOps::hip)
    _cudaops_interface(hip)
  endif()
  _cudaops_headers()
endfunction()

# CudaOps::headers: cudaops/*.h.
function(_cudaops_headers)
  if(NOT TARGET CudaOps::headers)
    _cudaops_interface(headers)
    cmake_path(SET include NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../include")
    set_property(TARGET CudaOps::headers PROPERTY INTERFACE_INCLUDE_DIRECTORIES "${include}")
  endif()
endfunction()

# A static libtorch is a list of archives whose order and options only torch's own file knows. In a function, so that
# the flags and architectures it sets are gone afterwards.
function(_cudaops_targets_static_torch)
  _cudaops_state_get(TORCH_DIR root)
  set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL TRUE)
  find_package(Torch CONFIG QUIET PATHS "${root}/share/cmake/Torch" "${root}" NO_DEFAULT_PATH)
  if(NOT Torch_FOUND)
    _cudaops_state_set(TORCH_PROBLEM "static libraries, and ${root}/share/cmake/Torch/TorchConfig.cmake doesn't find them")
  endif()
  foreach(name IN ITEMS torch torch_stable torch_stable_cuda torch_python)
    _cudaops_interface(${name})
    set_target_properties(
      CudaOps::${name}
      PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${TORCH_INCLUDE_DIRS}" INTERFACE_LINK_LIBRARIES "${TORCH_LIBRARIES}"
    )
  endforeach()
endfunction()

function(_cudaops_targets_torch backend)
  _cudaops_state_get(TORCH_LIB_DIR lib)
  _cudaops_state_get(TORCH_INCLUDE_DIR include)
  _cudaops_state_get(TORCH_CXX_STANDARD standard)
  _cudaops_state_get(PYTHON_INCLUDE_DIR python_include)

  foreach(
    library
    IN
    ITEMS c10 torch_cpu c10_cuda torch_cuda c10_hip torch_hip torch_python
  )
    if(EXISTS "${lib}/lib${library}.so")
      _cudaops_shared(${library}_library "${lib}/lib${library}.so")
    endif()
  endforeach()
  # A program that links an op must not be asked to resolve what torch's own libraries need; torch's RPATH does.
  if(CMAKE_EXECUTABLE_FORMAT STREQUAL "ELF" AND TARGET CudaOps::torch_cpu_library)
    set_property(
      TARGET CudaOps::torch_cpu_library
      APPEND
      PROPERTY INTERFACE_LINK_OPTIONS "$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:LINKER:--allow-shlib-undefined>"
    )
  endif()

  _cudaops_interface(torch_stable)
  set_target_properties(
    CudaOps::torch_stable
    PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${include}" INTERFACE_COMPILE_FEATURES cxx_std_17
  )
  _cudaops_link_existing(torch_stable torch_cpu)

  _cudaops_interface(torch_stable_cuda)
  set_property(TARGET CudaOps::torch_stable_cuda PROPERTY INTERFACE_LINK_LIBRARIES CudaOps::torch_stable)
  set_property(TARGET CudaOps::torch_stable_cuda PROPERTY INTERFACE_COMPILE_DEFINITIONS USE_CUDA)
  if(backend STREQUAL "CUDA")
    _cudaops_link_existing(torch_stable_cuda torch_cuda)
  elseif(backend STREQUAL "HIP")
    _cudaops_link_existing(torch_stable_cuda torch_hip)
    _cudaops_torch_on_hip(torch_stable_cuda)
  endif()

  _cudaops_interface(torch)
  set_target_properties(
    CudaOps::torch
    PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${include};${include}/torch/csrc/api/include"
      INTERFACE_COMPILE_FEATURES cxx_std_${standard}
  )
  # libstdc++'s two ABIs: what torch was built with stands in its libraries only; it is 1 in every supported torch.
  _cudaops_link_existing(torch torch_cpu c10)
  _cudaops_torch_definitions(definitions)
  if(NOT backend STREQUAL "CUDA")
    list(REMOVE_ITEM definitions USE_NVSHMEM USE_C10D_NCCL)
  endif()
  set_property(TARGET CudaOps::torch APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS ${definitions})
  if(backend STREQUAL "CUDA")
    _cudaops_link_existing(torch torch_cuda c10_cuda)
    # CMake raises no .cu on its own account. An nvcc without torch's standard meets the #error of torch's headers.
    if("cuda_std_${standard}" IN_LIST CMAKE_CUDA_COMPILE_FEATURES)
      set_property(TARGET CudaOps::torch APPEND PROPERTY INTERFACE_COMPILE_FEATURES cuda_std_${standard})
    endif()
    # ATen's headers use constexpr functions of the standard library in device code.
    set_property(
      TARGET CudaOps::torch
      APPEND
      PROPERTY INTERFACE_COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr>"
    )
  endif()

  if(backend STREQUAL "HIP" AND TARGET CudaOps::torch_hip_library)
    _cudaops_link_existing(torch torch_hip c10_hip)
    _cudaops_torch_on_hip(torch)
    if("hip_std_${standard}" IN_LIST CMAKE_HIP_COMPILE_FEATURES)
      set_property(TARGET CudaOps::torch APPEND PROPERTY INTERFACE_COMPILE_FEATURES hip_std_${standard})
    endif()
  endif()

  _cudaops_interface(torch_python)
  set_property(TARGET CudaOps::torch_python PROPERTY INTERFACE_LINK_LIBRARIES CudaOps::torch)
  if(python_include)
    set_property(TARGET CudaOps::torch_python PROPERTY INTERFACE_INCLUDE_DIRECTORIES "${python_include}")
  endif()
  _cudaops_link_existing(torch_python torch_python)
endfunction()

# What torch was built with decides what its headers declare (distributed, NCCL); its own CMake file says it.
function(_cudaops_torch_definitions out)
  _cudaops_replay_begin(TORCH_DEFINITIONS known)
  if(NOT known)
    _cudaops_use(base/stamps)
    _cudaops_state_get(TORCH_LIB_DIR lib)
    set(definitions "")
    foreach(place IN ITEMS "${lib}/../share/cmake" "${lib}/cmake")
      _cudaops_follows("${place}/Caffe2/Caffe2Targets.cmake")
      if(EXISTS "${place}/Caffe2/Caffe2Targets.cmake")
        file(STRINGS "${place}/Caffe2/Caffe2Targets.cmake" lines REGEX "INTERFACE_COMPILE_DEFINITIONS \"[A-Z0-9_;]+\"")
        foreach(line IN LISTS lines)
          string(REGEX MATCHALL "(USE|HAVE)_[A-Z0-9_]+" macros "${line}")
          list(APPEND definitions ${macros})
        endforeach()
        break()
      endif()
    endforeach()
    list(REMOVE_DUPLICATES definitions)
    _cudaops_state_set(TORCH_DEFINITIONS "${definitions}")
    _cudaops_replay_end(TORCH_DEFINITIONS TORCH_DEFINITIONS)
  endif()
  _cudaops_state_get(TORCH_DEFINITIONS definitions)
  set(${out} "${definitions}" PARENT_SCOPE)
endfunction()

# Torch's own definitions for HIP code: its half types bring their operators themselves.
function(_cudaops_torch_on_hip interface)
  set_property(TARGET CudaOps::${interface} APPEND PROPERTY INTERFACE_LINK_LIBRARIES CudaOps::hip)
  foreach(definition IN ITEMS CUDA_HAS_FP16=1 __HIP_NO_HALF_OPERATORS__=1 __HIP_NO_HALF_CONVERSIONS__=1)
    set_property(
      TARGET CudaOps::${interface}
      APPEND
      PROPERTY INTERFACE_COMPILE_DEFINITIONS "$<$<COMPILE_LANGUAGE:HIP>:${definition}>"
    )
  endforeach()
endfunction()

# _cudaops_link_existing(<interface> <library>...): links CudaOps::<library>_library where its file exists.
function(_cudaops_link_existing interface)
  foreach(library IN LISTS ARGN)
    if(TARGET CudaOps::${library}_library)
      set_property(TARGET CudaOps::${interface} APPEND PROPERTY INTERFACE_LINK_LIBRARIES CudaOps::${library}_library)
    endif()
  endforeach()
endfunction()

# CudaOps::cuda_headers: the chosen toolkit's headers for host compilers, CUB and Thrust included.
# CudaOps::cudart: its runtime, for targets that CMake doesn't link as CUDA.
function(_cudaops_targets_toolkit)
  _cudaops_state_get(TOOLKIT_INCLUDE_DIRS includes)
  _cudaops_state_get(TOOLKIT_LIB_DIR lib)
  _cudaops_interface(cuda_headers)
  # nvcc brings its own; a second -I would turn its -isystem into -I and its headers' warnings on. Host compilers look
  # there last, as nvcc does: a library's own headers come before the toolkit's of the same name in both.
  set(wrapped "")
  foreach(include IN LISTS includes)
    list(APPEND wrapped "$<$<NOT:$<COMPILE_LANGUAGE:CUDA>>:${include}>")
  endforeach()
  set_target_properties(
    CudaOps::cuda_headers
    PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${wrapped}" INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${wrapped}"
  )
  if(NOT EXISTS "${lib}/libcudart_static.a")
    _cudaops_library_problem(
      cudart
      "the CUDA runtime was not found"
      FACTS "wanted  libcudart_static.a" "tried   ${lib}"
      FIX "-DCUDAToolkit_ROOT=<toolkit>   (a whole one)"
    )
  else()
    add_library(CudaOps::cudart STATIC IMPORTED GLOBAL)
    set_target_properties(
      CudaOps::cudart
      PROPERTIES
        IMPORTED_LOCATION "${lib}/libcudart_static.a"
        INTERFACE_LINK_LIBRARIES "CudaOps::cuda_headers;pthread;dl;rt"
        SYSTEM OFF
    )
  endif()
endfunction()
