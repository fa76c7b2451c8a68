# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
FindCudaTorchMatch
------------------

Finds torch, picks the CUDA toolkit or the ROCm that matches it, and enables CUDA or HIP.

.. code-block:: cmake

  find_package(CudaTorchMatch [<version>[...<version>]] [QUIET] [REQUIRED] [COMPONENTS CUDA|HIP])

``<version>`` is torch's, without the local part (``2.10``, ``2.10...<2.16``). ``REQUIRED`` means that torch is
required; ``COMPONENTS CUDA`` (or ``HIP``) makes that language required too. Where it isn't available it is off, with a
reason: ops fall back to their CPU part. CXX must be enabled. Call it at the top level of the top-level
``CMakeLists.txt``; other directories may call it again and get the same result. Torch is never imported: its facts are
read from files.

Search Behavior
^^^^^^^^^^^^^^^

1. Torch: ``Torch_DIR``; ``Torch_ROOT`` (then no other place is looked at; one of the environment without a torch gives way
   to ``Python_EXECUTABLE``); ``CMAKE_PREFIX_PATH`` (a libtorch zip,
   conda-forge, a wheel's ``share/cmake``);
   ``Python_EXECUTABLE`` or ``Python3_EXECUTABLE`` (then no other interpreter is asked); the active venv
   (``VIRTUAL_ENV``) or conda environment (``CONDA_PREFIX``); every ``python3`` on ``PATH``; one in the store; with
   ``CUDAOPS_PROVIDE=TORCH`` a new one.
2. Toolkits: CUDA enabled before; ``CMAKE_CUDA_COMPILER``, ``CUDAToolkit_ROOT``; the environment's ``CUDACXX``,
   ``CUDA_HOME``, ``CUDA_PATH``; every ``nvcc`` on ``PATH``; conda; wheels beside torch; the store; ``/usr/local/cuda``,
   ``/usr/local/cuda-*``, ``/opt/cuda``, ``/opt/cuda-*``. ``CUDAToolkit_ROOT`` may be a list of prefixes: the first one with
   ``bin/nvcc`` is the toolkit; where that has no runtime (Nix), a tree of links to all of them, ``<build>/CudaOps/toolkit``.
   The first four are explicit and always win; of the others the best verdict wins, then the order.
   ``CMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH`` and ``CMAKE_FIND_USE_CMAKE_SYSTEM_PATH``, if false, leave out ``PATH``, and
   ``/usr/local`` and ``/opt``. With ``CUDAOPS_PROVIDE=TOOLKIT`` torch's own release is brought where none fits.
3. Verdict on toolkit and torch: ``EXACT`` (same major.minor), ``COMPATIBLE`` (same major, from 11.1 on), ``MISMATCH``,
   ``CPU_TORCH``, ``ROCM_TORCH``, ``NO_TOOLKIT``, ``NO_TORCH``. A ROCm torch gets ``EXACT``, ``COMPATIBLE`` or
   ``MISMATCH`` with the ROCm found, ``ROCM_TORCH`` where there is none.
4. Host compiler, the first that is set: ``-ccbin`` in the environment's ``NVCC_APPEND_FLAGS`` or in ``CMAKE_CUDA_FLAGS``
   (in the first configure step: the environment's ``CUDAFLAGS``); ``CMAKE_CUDA_HOST_COMPILER``; the environment's
   ``CUDAHOSTCXX``, ``-ccbin`` in ``NVCC_PREPEND_FLAGS``, ``NVCC_CCBIN``; CXX, of ``CXX="ccache g++"`` the compiler. It is
   checked against the bounds in the toolkit's ``crt/host_config.h``.
5. Architectures, the first that is set: ``CMAKE_CUDA_ARCHITECTURES``; the environment's ``CUDAARCHS``;
   ``TORCH_CUDA_ARCH_LIST`` (variable, then environment); the visible GPUs, except in a wheel build; else ``common``,
   what both toolkit and torch support. Spellings: :module:`CudaOpsArchitectures`.
6. ROCm, for a ROCm torch or with ``CUDAOPS_BACKEND=HIP``: HIP enabled before; ``CMAKE_HIP_COMPILER``,
   ``CMAKE_HIP_COMPILER_ROCM_ROOT``, ``ROCm_ROOT``, ``ROCM_PATH``, the environment's ``HIPCXX`` (explicit, these win); the
   environment's ``ROCM_PATH``, ``ROCM_HOME``, ``HIP_PATH``; ``hipcc`` on ``PATH``; conda; wheels beside torch;
   ``/opt/rocm``, ``/opt/rocm-*``, ``/usr``. Architectures, the first that is set: ``CMAKE_HIP_ARCHITECTURES``;
   ``PYTORCH_ROCM_ARCH``, ``AMDGPU_TARGETS``, ``GPU_TARGETS`` (variable, then environment); the visible GPUs, except in a
   wheel build; what torch was built for. Each is tested with the compiler before HIP is enabled.

Result variables
^^^^^^^^^^^^^^^^

``CudaTorchMatch_FOUND``, ``_VERDICT``, ``_REASON``, ``_REASON_CODE``, ``_TORCH_VERSION``, ``_TORCH_CUDA_VERSION``,
``_TORCH_DIR``, ``_PYTHON_EXECUTABLE``, ``_TOOLKIT_VERSION``, ``_TOOLKIT_ROOT``, ``_NVCC``, ``_HOST_COMPILER``,
``_ARCHITECTURES``, ``_CUDA_ENABLED``, ``_HIP_ENABLED``, ``_TORCH_HIP_VERSION``, ``_ROCM_VERSION``, ``_ROCM_ROOT``,
``_HIP_COMPILER``.

Sets in the caller's directory, as normal variables: ``CMAKE_CUDA_COMPILER``, ``CMAKE_CUDA_HOST_COMPILER``,
``CMAKE_CUDA_ARCHITECTURES``; for HIP ``CMAKE_HIP_COMPILER``, ``CMAKE_HIP_ARCHITECTURES``, and in ``CMAKE_HIP_FLAGS`` the
paths that a compiler outside of AMD's layout needs. Architectures that a project's own ``find_package(Torch)``, before
or after, has added to ``CMAKE_CUDA_FLAGS`` are removed from it.

Imported targets
^^^^^^^^^^^^^^^^

``CudaOps::torch_stable`` and ``CudaOps::torch_stable_cuda`` (stable ABI), ``CudaOps::torch`` (ATen),
``CudaOps::torch_python`` (torch/extension.h), ``CudaOps::cuda_headers``, ``CudaOps::cudart``, and of CUDA's libraries
``CudaOps::cublas cublasLt cusparse cusolver cufft curand nvrtc cudnn nccl nvml cuda_driver``. With HIP ``CudaOps::hip``
(headers, runtime, definitions), and the same names of libraries mean hipBLAS, hipBLASLt, hipSPARSE, hipSOLVER, hipFFT,
hipRAND, hiprtc, MIOpen and RCCL, because that is what hipify makes of the calls.

All of them always exist: linking needs no ``if()``. Without CUDA and HIP those of CUDA and HIP are empty. Where CUDA or
HIP is on, a library that isn't found is an error for the ops and kernels with device code that link it, when they are
configured, and for other targets when they are built; for one that is found, ``IMPORTED_LOCATION`` is the file.

A library comes from the copy that torch loads (wheel, conda, system), else from the chosen toolkit. Its headers come
from the same copy, as links in ``CudaOps/include/<library>`` of the build tree; all other CUDA headers are the
toolkit's. Host compilers search the toolkit's headers last, as nvcc does.

``CudaOps::openmp`` always exists: OpenMP for C++ and for the host code that nvcc compiles, with the runtime that torch
loads. Use it instead of ``OpenMP::OpenMP_CXX``, for which CMake warns where torch's wheel has a ``libgomp.so.1``
("Cannot generate a safe runtime search path"): torch's copy is loaded, whichever was linked, so it is the one to link.
For a torch without one (libtorch, a torch you built) it is the compiler's. clang's OpenMP code needs LLVM's ``libomp``,
which then runs beside torch's ``libgomp``, with its own threads. HIP code is compiled without OpenMP.

Options
^^^^^^^

Variables, or environment variables of the same name:

``CUDAOPS_VERSION_POLICY``
  ``STRICT`` takes EXACT only; ``COMPATIBLE`` (default) stops at a MISMATCH; ``WARN`` makes that a warning.
``CUDAOPS_COMPATIBLE_VERSIONS``
  Pairs that are declared compatible, or incompatible with ``!``, in place of the rule: ``"12.1:12.4;!13.0:13.2"``
  (toolkit:torch's CUDA).
``CUDAOPS_BACKEND``
  ``AUTO`` (default: what torch was built for), ``CUDA`` or ``HIP`` (an error where it isn't available), ``CPU`` (both
  off; the verdict is given all the same, but with ``CMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit`` no toolkit is looked for).
  ``HIP`` with a torch that isn't built for ROCm builds kernels, and stable ops that this torch can't load.
``CUDAOPS_PROVIDE``
  List of what may be downloaded where it is missing: ``TORCH``, ``TOOLKIT``, ``GTEST``, ``BENCHMARK``. Default:
  nothing.
``CUDAOPS_TORCH_VERSION``
  Release for ``CUDAOPS_PROVIDE=TORCH``.
``CUDAOPS_STORE``
  Where it is stored; default ``~/.cache/cudaops``. ``~`` is the home directory here, and in every path that is given to
  this module. Results of queries to compilers and to Python are stored there as well, each valid while the program, its
  environment and the files that it depends on are unchanged.
``CUDAOPS_SEED_COMPILERS``
  ``ON`` (default): CMake's detection of nvcc runs once for each user, machine and set of inputs, and is read from the
  store afterwards; ``OFF``: each time. :module:`CudaOpsSeed` does it for C and C++ too.

Example
^^^^^^^

.. code-block:: cmake

  project(my_ops LANGUAGES CXX)
  find_package(CudaOps 0.1 REQUIRED)
  find_package(CudaTorchMatch 2.10 REQUIRED)
  message(STATUS "CUDA: ${CudaTorchMatch_CUDA_ENABLED} (${CudaTorchMatch_VERDICT})")
#]=======================================================================]

cmake_policy(PUSH)
cmake_policy(VERSION 3.25)
list(APPEND CMAKE_MESSAGE_CONTEXT "CudaTorchMatch")

include("${CMAKE_CURRENT_LIST_DIR}/detail/base/use.cmake")
_cudaops_use(base/end base/hooks base/state match/languages match/match match/torch_targets report/report)

_cudaops_state_set(QUIET "${CudaTorchMatch_FIND_QUIETLY}")
_cudaops_language_clean_flags()
_cudaops_match_begin(_cudaops_first)
set(_cudaops_function "")
if(CMAKE_CURRENT_FUNCTION)
  set(
    _cudaops_function
    "${CMAKE_CURRENT_FUNCTION}() (${CMAKE_CURRENT_FUNCTION_LIST_FILE}:${CMAKE_CURRENT_FUNCTION_LIST_LINE})"
  )
endif()
if(_cudaops_first)
  _cudaops_state_set(MATCH_FUNCTION "${_cudaops_function}")
  _cudaops_at_end()
  _cudaops_match_resolve()
endif()

_cudaops_state_get(BACKEND _cudaops_backend)
if(_cudaops_backend STREQUAL "CUDA")
  # At file scope: enabled inside a function, a language is broken for the caller.
  if(NOT DEFINED CMAKE_CUDA_COMPILE_OBJECT)
    _cudaops_state_get(HOST_COMPILER_GIVEN _cudaops_given)
    _cudaops_state_get(TOOLKIT_NVCC CMAKE_CUDA_COMPILER)
    if(_cudaops_given)
      _cudaops_state_get(HOST_COMPILER CMAKE_CUDA_HOST_COMPILER)
    endif()
    # Off, so that CMake neither asks the compiler for a default nor puts one into the cache.
    set(CMAKE_CUDA_ARCHITECTURES OFF)
    _cudaops_language_forget()
    _cudaops_announce(detection_begin)
    # CMAKE_CUDA_STANDARD, or a CMAKE_CXX_STANDARD of the toolchain file, as Conan writes it, would be that of CMake's trial
    # too, where CMake may know no such dialect of nvcc.
    if(CMAKE_TOOLCHAIN_FILE OR DEFINED CMAKE_CUDA_STANDARD)
      set(_cudaops_standard "${CMAKE_CUDA_STANDARD}")
      set(CMAKE_CUDA_STANDARD 17)
    endif()
    enable_language(CUDA)
    if(DEFINED _cudaops_standard)
      # Without it the cache's is seen again.
      unset(CMAKE_CUDA_STANDARD)
      if(NOT "${CMAKE_CUDA_STANDARD}" STREQUAL _cudaops_standard)
        set(CMAKE_CUDA_STANDARD "${_cudaops_standard}")
      endif()
      unset(_cudaops_standard)
    endif()
    _cudaops_announce(detection_end)
    _cudaops_language_verify()
    unset(_cudaops_given)
  endif()
  _cudaops_language_dialects()
  cmake_language(EVAL CODE "cmake_language(DEFER CALL _cudaops_language_check_scope CUDA [==[${_cudaops_function}]==])")
  cmake_language(DEFER CALL _cudaops_language_clean_flags)
  _cudaops_state_get(ARCHITECTURES_VARIABLE CMAKE_CUDA_ARCHITECTURES)
elseif(_cudaops_backend STREQUAL "HIP")
  _cudaops_state_get(ARCHITECTURES_VARIABLE CMAKE_HIP_ARCHITECTURES)
  _cudaops_use(facts/hip_compiler match/hip_language)
  _cudaops_hip_flags(_cudaops_flags)
  foreach(_cudaops_pair IN LISTS _cudaops_flags)
    # A path with a blank is quoted.
    string(REGEX REPLACE "=(.* .*)$" "=\"\\1\"" _cudaops_pair "${_cudaops_pair}")
    string(FIND " ${CMAKE_HIP_FLAGS} " " ${_cudaops_pair} " _cudaops_position)
    if(_cudaops_position EQUAL -1)
      string(APPEND CMAKE_HIP_FLAGS " ${_cudaops_pair}")
    endif()
  endforeach()
  if(NOT DEFINED CMAKE_HIP_COMPILE_OBJECT)
    _cudaops_state_get(ROCM_COMPILER CMAKE_HIP_COMPILER)
    _cudaops_hip_rocm_root(CMAKE_HIP_COMPILER_ROCM_ROOT)
    set(CMAKE_HIP_PLATFORM amd)
    # hip-lang looks for its parts in multi-arch directories, and before ROCm 5.5 in CMAKE_PREFIX_PATH only; in CMake's
    # trial projects too.
    list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CMAKE_LIBRARY_ARCHITECTURE CMAKE_PREFIX_PATH)
    _cudaops_state_get(ROCM_ROOT _cudaops_root)
    list(APPEND CMAKE_PREFIX_PATH "${_cudaops_root}")
    _cudaops_hip_forget()
    _cudaops_hip_environment(_cudaops_flags)
    enable_language(HIP)
    _cudaops_hip_environment(_cudaops_flags)
    list(POP_BACK CMAKE_PREFIX_PATH)
  endif()
  unset(_cudaops_flags)
  unset(_cudaops_position)
  unset(_cudaops_root)
  cmake_language(EVAL CODE "cmake_language(DEFER CALL _cudaops_language_check_scope HIP [==[${_cudaops_function}]==])")
endif()
_cudaops_targets_create()

set(_cudaops_pairs "VERDICT:VERDICT;REASON:REASON;REASON_CODE:REASON_CODE;TORCH_VERSION:TORCH_VERSION")
list(APPEND _cudaops_pairs "TORCH_CUDA_VERSION:TORCH_CUDA;TORCH_DIR:TORCH_DIR;PYTHON_EXECUTABLE:PYTHON_EXECUTABLE")
list(APPEND _cudaops_pairs "TOOLKIT_VERSION:TOOLKIT_VERSION;TOOLKIT_ROOT:TOOLKIT_ROOT;NVCC:TOOLKIT_NVCC")
list(APPEND _cudaops_pairs "HOST_COMPILER:HOST_COMPILER;ARCHITECTURES:ARCHITECTURES;TORCH_HIP_VERSION:TORCH_HIP")
list(APPEND _cudaops_pairs "ROCM_VERSION:ROCM_VERSION;ROCM_ROOT:ROCM_ROOT;HIP_COMPILER:ROCM_COMPILER")
foreach(_cudaops_pair IN LISTS _cudaops_pairs)
  string(REGEX MATCH "^([A-Z_]+):([A-Z_]+)$" _cudaops_pair "${_cudaops_pair}")
  _cudaops_state_get(${CMAKE_MATCH_2} CudaTorchMatch_${CMAKE_MATCH_1})
endforeach()
foreach(_cudaops_pair IN ITEMS CUDA HIP)
  set(CudaTorchMatch_${_cudaops_pair}_ENABLED FALSE)
  if(_cudaops_backend STREQUAL _cudaops_pair)
    set(CudaTorchMatch_${_cudaops_pair}_ENABLED TRUE)
  endif()
  set(CudaTorchMatch_${_cudaops_pair}_FOUND ${CudaTorchMatch_${_cudaops_pair}_ENABLED})
endforeach()

_cudaops_match_summary("${_cudaops_first}")
include(FindPackageHandleStandardArgs)
set(_cudaops_pair "")
if(CudaTorchMatch_TORCH_DIR STREQUAL "")
  _cudaops_use(match/explain)
  _cudaops_match_failure(_cudaops_pair)
elseif(NOT _cudaops_first)
  # The search has kept to the request of the first call.
  _cudaops_match_later_request(_cudaops_pair CudaTorchMatch_TORCH_DIR)
endif()
find_package_handle_standard_args(
  CudaTorchMatch
  REQUIRED_VARS CudaTorchMatch_TORCH_DIR HANDLE_VERSION_RANGE
  HANDLE_COMPONENTS
  REASON_FAILURE_MESSAGE "${_cudaops_pair}"
)

unset(_cudaops_pair)
unset(_cudaops_pairs)
unset(_cudaops_first)
unset(_cudaops_function)
unset(_cudaops_backend)
list(POP_BACK CMAKE_MESSAGE_CONTEXT)
if("${CMAKE_MESSAGE_CONTEXT}" STREQUAL "")
  unset(CMAKE_MESSAGE_CONTEXT)
endif()
cmake_policy(POP)
