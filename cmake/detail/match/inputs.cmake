# SPDX-License-Identifier: Apache-2.0
# What the facts and the match of a build tree follow from, besides files: variables, options, environment.

_cudaops_use(base/options base/package base/stamps base/state)

# _cudaops_replay_inputs(<out>): all of it in one text, which begins with the number of the format of the facts. Variables
# of the environment are those of the first configure step where they are kept (base/options), else the present ones.
function(_cudaops_replay_inputs out)
  _cudaops_state_get(PACKAGE_DIR package)
  set(version "")
  if(package)
    _cudaops_package_version("${package}" version)
  endif()
  _cudaops_program_environment(programs)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  _cudaops_store(store)
  _cudaops_cuda_flags(cuda_flags)
  _cudaops_env_asked(
    environment
    CMAKE_PREFIX_PATH
    CONDA_PREFIX
    CUDACXX
    CUDAHOSTCXX
    CUDAOPS_BACKEND
    CUDAOPS_COMPATIBLE_VERSIONS
    CUDAOPS_PROVIDE
    CUDAOPS_TORCH_VERSION
    CUDAOPS_VERSION_POLICY
    CUDA_HOME
    CUDA_PATH
    CUDAToolkit_ROOT
    HIPCXX
    HIP_DEVICE_LIB_PATH
    HIP_PATH
    NVCC_APPEND_FLAGS
    NVCC_CCBIN
    NVCC_PREPEND_FLAGS
    PATH
    PYTHONPATH
    ROCM_HOME
    ROCM_PATH
    Torch_ROOT
    VIRTUAL_ENV
  )
  string(
    CONCAT text
    "1|${version}|${CMAKE_VERSION}|${package}|${store}|${languages}|${CMAKE_CURRENT_SOURCE_DIR}|${CMAKE_CURRENT_BINARY_DIR}\n"
    "${environment}${programs}"
    "${CMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit}|${CUDAOPS_BACKEND}|${CUDAOPS_COMPATIBLE_VERSIONS}|${CUDAOPS_PROVIDE}|${CUDAOPS_TORCH_VERSION}|${CUDAOPS_VERSION_POLICY}\n"
    "$ENV{HOME}|$ENV{PYTHONHOME}|$ENV{PYTHONUSERBASE}|$ENV{PYTHONNOUSERSITE}|$ENV{PYTHONSAFEPATH}|$ENV{PYTHONPLATLIBDIR}\n"
    "$ENV{DEB_PYTHON_INSTALL_LAYOUT}|$ENV{RPM_BUILD_ROOT}|$ENV{EBPYTHONPREFIXES}|$ENV{NIX_PYTHONPATH}\n"
    "$ENV{CMAKE_LIBRARY_PATH}|$ENV{CMAKE_PREFIX_PATH}\n"
    "${Torch_DIR}|${Torch_ROOT}|${TORCH_ROOT}|${CMAKE_PREFIX_PATH}|${Python_EXECUTABLE}|${Python3_EXECUTABLE}\n"
    "${CudaTorchMatch_FIND_VERSION_COMPLETE}|${CudaTorchMatch_FIND_VERSION_EXACT}\n"
    "${CMAKE_CXX_COMPILER}|${CMAKE_CXX_COMPILER_ID}|${CMAKE_CXX_COMPILER_VERSION}|${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES}\n"
    "${CMAKE_CUDA_COMPILER}|${CUDAToolkit_ROOT}|${CMAKE_CUDA_HOST_COMPILER}|${cuda_flags}\n"
    "${CMAKE_HIP_COMPILER}|${CMAKE_HIP_COMPILER_ROCM_ROOT}|${ROCm_ROOT}|${ROCM_ROOT}|${ROCM_PATH}|$CACHE{ROCM_PATH}|${CMAKE_HIP_FLAGS}\n"
    "${CMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH}|${CMAKE_FIND_USE_CMAKE_SYSTEM_PATH}|${CMAKE_SYSTEM_PROCESSOR}\n"
    "${CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES}|${CMAKE_LIBRARY_PATH}|${CMAKE_SYSTEM_LIBRARY_PATH}|${CMAKE_SYSTEM_PREFIX_PATH}\n"
  )
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# _cudaops_match_requests(<out>): what besides the facts the decisions of a match follow from, in one text.
function(_cudaops_match_requests out)
  _cudaops_env_asked(environment CUDAARCHS TORCH_CUDA_ARCH_LIST)
  # It tells CMake's own value from a user's.
  get_property(help CACHE CMAKE_CUDA_ARCHITECTURES PROPERTY HELPSTRING)
  string(
    CONCAT text
    "${CudaTorchMatch_FIND_COMPONENTS}|${CudaTorchMatch_FIND_REQUIRED}|${CudaTorchMatch_FIND_REQUIRED_CUDA}|"
    "${CudaTorchMatch_FIND_REQUIRED_HIP}|${CMAKE_CUDA_ARCHITECTURES}|$CACHE{CMAKE_CUDA_ARCHITECTURES}|${help}|"
    "${TORCH_CUDA_ARCH_LIST}|${SKBUILD}|$ENV{SKBUILD}|${environment}"
  )
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# _cudaops_match_inputs(<out>): what a second find_package(CudaTorchMatch) may not change, as <name>=<value> in a fixed order.
function(_cudaops_match_inputs out)
  set(inputs "")
  set(names "Torch_DIR;Torch_ROOT;Python_EXECUTABLE;Python3_EXECUTABLE;CUDAToolkit_ROOT;ROCm_ROOT")
  list(APPEND names "TORCH_CUDA_ARCH_LIST;CUDAOPS_VERSION_POLICY;CUDAOPS_COMPATIBLE_VERSIONS;CUDAOPS_BACKEND")
  list(APPEND names "CUDAOPS_PROVIDE;CUDAOPS_TORCH_VERSION")
  foreach(name IN LISTS names)
    string(REPLACE ";" "," value "${${name}}")
    list(APPEND inputs "${name}=${value}")
  endforeach()
  set(${out} "${inputs}" PARENT_SCOPE)
endfunction()
