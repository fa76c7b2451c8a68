# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
CudaOpsTargets
--------------

The steps that :command:`add_torch_op` is made of, for targets of your own.

.. command:: cudaops_target_torch

  .. code-block:: cmake

    cudaops_target_torch(<target> [ABI STABLE|FULL|PYBIND] [TORCH_TARGET <version>] [CUDA])

  Links ``<target>`` with torch, PRIVATE, and defines what its ABI needs.

  ``ABI``
    ``STABLE`` (default): ``torch/csrc/stable/*``; the library runs on ``TORCH_TARGET`` and every later torch.
    ``FULL``: ``torch/library.h`` and ATen; tied to torch's minor version.
    ``PYBIND``: ``torch/extension.h``; tied to torch and Python.
  ``TORCH_TARGET``
    The oldest torch that a STABLE library runs on. Default: 2.10, the first with all of the stable ABI.
  ``CUDA``
    The target holds CUDA code: ``USE_CUDA``, torch's CUDA libraries, and the toolkit's headers for host sources.

.. command:: cudaops_target_defaults

  .. code-block:: cmake

    cudaops_target_defaults(<target>)

  Compiles ``<target>`` as Release where ``CMAKE_BUILD_TYPE`` is empty; adds ``-lineinfo`` (RelWithDebInfo) and ``-G``
  (Debug) for CUDA, and what the options of :module:`CudaOpsDebug` ask for; compiles it through a compiler cache where there is one (:module:`CudaOpsCache`). In a wheel build
  (``SKBUILD``) nvcc 13 and later compress device code for size (``--compress-mode=size``: half the library), unless
  ``CMAKE_CUDA_FLAGS`` names a mode.

``CUDAOPS_CUDA_JOBS`` (variable, or environment variable of the same name)
  How many CUDA or HIP sources of such targets, and of ops and kernels, compile at once under Ninja. Default: as many as
  free memory and cores allow, within the limits of control groups; where that is fewer than Ninja's own number, the
  configure step prints it with its calculation. The memory of a source is what it took in an earlier build of the build
  tree, else ``CUDAOPS_CUDA_JOB_MEMORY``, once for each architecture that nvcc compiles at a time. Heavy sources don't
  delay light ones, nor host sources; before CMake 4.2 that holds between targets only, because all sources of a target
  are in one pool there. Targets with ``JOB_POOL_COMPILE`` or ``JOB_POOL_LINK`` keep their own pools.

``CUDAOPS_CUDA_JOB_MEMORY`` (variable, or environment variable of the same name)
  GiB that nvcc is assumed to need for one architecture of a source that was not measured yet: it matters in the first
  build where memory is short. Default: 2.9 in targets with torch's C++ API (ABI FULL, PYBIND), 0.5 in others; set 3 for
  kernels that include CUTLASS.

Targets: ``CudaOps::headers``, the include directory of ``cudaops/check.h`` and its neighbours.

Example:

.. code-block:: cmake

  add_library(inference SHARED inference.cpp)
  cudaops_target_torch(inference ABI FULL)
  cudaops_target_defaults(inference)
#]=======================================================================]

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)
# An empty value of a keyword is a value.
if(POLICY CMP0174)
  cmake_policy(SET CMP0174 NEW)
endif()

if(NOT COMMAND _cudaops_use)
  include("${CMAKE_CURRENT_LIST_DIR}/detail/base/use.cmake")
endif()
_cudaops_use(arch/spell base/hooks base/message base/options base/programs base/state match/languages match/torch_targets op/arguments op/compile_options op/debug)

function(cudaops_target_torch)
  list(APPEND CMAKE_MESSAGE_CONTEXT "CudaOps.cudaops_target_torch")
  cmake_parse_arguments(PARSE_ARGV 1 arg "CUDA" "ABI;TORCH_TARGET" "")
  _cudaops_first_argument(target ${ARGC} "${ARGV0}")
  set(command "cudaops_target_torch(${target})")
  set(usage "cudaops_target_torch(<target> [ABI STABLE|FULL|PYBIND] [TORCH_TARGET <version>] [CUDA])")
  _cudaops_check_target(cudaops_target_torch "${target}" "${usage}")
  _cudaops_check_keywords("${command}" "${ARGV}" SINGLES ABI TORCH_TARGET OPTIONS CUDA USAGE "${usage}")
  _cudaops_check_choice("${command}" ABI "${arg_ABI}" STABLE FULL PYBIND)
  _cudaops_check_match("${command}")
  if(NOT arg_ABI)
    set(arg_ABI STABLE)
  endif()
  _cudaops_check_torch("${command}" ${arg_ABI} "${arg_TORCH_TARGET}" torch_target)
  set(gpu "")
  _cudaops_state_get(BACKEND backend)
  if(arg_CUDA AND NOT backend STREQUAL "CPU")
    set(gpu ${backend})
  endif()
  _cudaops_link_torch(${target} ${arg_ABI} "${torch_target}" "${gpu}")
endfunction()

# _cudaops_check_torch(<command(target)> <abi> <torch-target> <out-target>)
#
# Whether the torch found can give this ABI. <out-target> is the TORCH_TARGET in force, empty for FULL and PYBIND.
function(_cudaops_check_torch command abi torch_target out)
  set(${out} "" PARENT_SCOPE)
  if(NOT abi STREQUAL "STABLE" AND NOT torch_target STREQUAL "")
    _cudaops_stop(
      "${command}: TORCH_TARGET belongs to ABI STABLE."
      FACTS "found   ABI ${abi}, TORCH_TARGET ${torch_target}" "rule    a ${abi} library is tied to the torch it was built with"
      FIX "leave TORCH_TARGET out, or ABI STABLE"
    )
  endif()
  if(torch_target STREQUAL "")
    set(torch_target "2.10")
  endif()
  if(NOT torch_target MATCHES "^[0-9]+\\.[0-9]+(\\.[0-9]+)?$")
    _cudaops_stop(
      "${command}: TORCH_TARGET is not a version."
      FACTS "found   ${torch_target}" "wanted  major.minor of a torch from 2.10 on"
      FIX "TORCH_TARGET 2.10"
    )
  endif()
  if(abi STREQUAL "STABLE" AND torch_target VERSION_LESS 2.10)
    _cudaops_stop(
      "${command}: the stable ABI begins with torch 2.10."
      FACTS "found   TORCH_TARGET ${torch_target}"
      FIX "TORCH_TARGET 2.10" "or ABI FULL, with the torch that will run it"
    )
  endif()

  _cudaops_state_get(TORCH_RELEASE release)
  _cudaops_state_get(TORCH_VERSION version)
  _cudaops_state_get(TORCH_SOURCE source)
  _cudaops_state_get(TORCH_PROBLEM problem)
  if(version STREQUAL "")
    # No torch: the caller decides what that means.
  elseif(abi STREQUAL "STABLE" AND release VERSION_LESS 2.10)
    _cudaops_stop(
      "${command}: ABI STABLE needs torch 2.10 or newer."
      FACTS "found   torch ${version} (${source})" "wanted  2.10, the first torch with the stable ABI"
      FIX "ABI FULL" "or a newer torch: -DPython_EXECUTABLE=<python>"
    )
  elseif(abi STREQUAL "STABLE" AND release VERSION_LESS torch_target)
    _cudaops_stop(
      "${command}: TORCH_TARGET is newer than the torch it is built with."
      FACTS "found   torch ${version} (${source})" "wanted  TORCH_TARGET ${torch_target}, whose functions these headers don't have"
      FIX "TORCH_TARGET 2.10" "or a newer torch: -DPython_EXECUTABLE=<python>"
    )
  elseif(release VERSION_LESS 2.0)
    _cudaops_stop(
      "${command}: this torch is too old."
      FACTS "found   torch ${version} (${source})" "wanted  2.9 or newer"
      FIX "-DPython_EXECUTABLE=<python>   (one with a newer torch)"
    )
  elseif(problem)
    _cudaops_stop(
      "${command}: the torch installation is incomplete."
      FACTS "found   torch ${version} (${source})" "wrong   ${problem}"
      FIX "reinstall it: <python> -m pip install --force-reinstall torch" "or another one: -DPython_EXECUTABLE=<python>"
    )
  endif()
  if(abi STREQUAL "PYBIND" AND version)
    _cudaops_state_get(PYTHON_INCLUDE_DIR include)
    _cudaops_state_get(PYTHON_EXECUTABLE python)
    _cudaops_state_get(PYTHON_VERSION python_version)
    _cudaops_other_machine(machine)
    if(machine)
      _cudaops_stop(
        "${command}: ABI PYBIND needs the Python that loads the module, for its headers and for the name of the file."
        FACTS "found   a compiler for ${machine} (CMAKE_SYSTEM_PROCESSOR), whose Python can't be asked here"
        FIX "ABI STABLE, or ABI FULL" "or build it on ${machine}"
      )
    elseif(python STREQUAL "")
      _cudaops_stop(
        "${command}: ABI PYBIND needs the Python that goes with torch."
        FACTS "found   torch ${version} (${source}), no interpreter"
        FIX "-DPython_EXECUTABLE=<python>"
      )
    elseif(NOT EXISTS "${include}/Python.h")
      _cudaops_stop(
        "${command}: ABI PYBIND needs Python's headers."
        FACTS "found   ${python} (Python ${python_version})" "missing ${include}/Python.h"
        FIX "apt-get install python3-dev   (or the like for this Python)" "or ABI STABLE, which needs none"
      )
    elseif(NOT TARGET CudaOps::torch_python_library)
      _cudaops_state_get(TORCH_LIB_DIR lib)
      _cudaops_stop(
        "${command}: ABI PYBIND needs libtorch_python.so."
        FACTS "found   torch ${version} (${source})" "missing ${lib}/libtorch_python.so"
        FIX "-DPython_EXECUTABLE=<python>   (one with torch as a Python package)"
      )
    endif()
  endif()
  if(abi STREQUAL "STABLE")
    set(${out} "${torch_target}" PARENT_SCOPE)
  endif()
endfunction()

# _cudaops_link_torch(<target> <abi> <torch-target> <gpu>)
function(_cudaops_link_torch target abi torch_target gpu)
  _cudaops_state_get(BACKEND backend)
  if(abi STREQUAL "STABLE")
    if(gpu)
      target_link_libraries(${target} PRIVATE CudaOps::torch_stable_cuda)
    else()
      target_link_libraries(${target} PRIVATE CudaOps::torch_stable)
    endif()
    # major << 56 | minor << 48, as torch's headers read it; shifted by hand, because CMake's numbers are signed.
    string(REGEX MATCH "^([0-9]+)\\.([0-9]+)" ignored "${torch_target}")
    math(EXPR major "${CMAKE_MATCH_1} + 256" OUTPUT_FORMAT HEXADECIMAL)
    math(EXPR minor "${CMAKE_MATCH_2} + 256" OUTPUT_FORMAT HEXADECIMAL)
    string(SUBSTRING "${major}" 3 2 major)
    string(SUBSTRING "${minor}" 3 2 minor)
    target_compile_definitions(${target} PRIVATE TORCH_TARGET_VERSION=0x${major}${minor}000000000000)
  elseif(abi STREQUAL "FULL")
    target_link_libraries(${target} PRIVATE CudaOps::torch)
  else()
    target_link_libraries(${target} PRIVATE CudaOps::torch_python)
    # pybind11's types are hidden; whatever holds them must be.
    set_target_properties(
      ${target}
      PROPERTIES CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden HIP_VISIBILITY_PRESET hidden
    )
  endif()
  if(gpu)
    _cudaops_link_toolkit(${target})
    if(abi STREQUAL "STABLE")
      string(TOLOWER "${gpu}" lower)
      target_compile_features(${target} PRIVATE ${lower}_std_17)
    else()
      target_compile_definitions(${target} PRIVATE USE_CUDA)
    endif()
  endif()
endfunction()

# _cudaops_use_only(<target> <interface>)
#
# <target> compiles with the usage requirements of <interface>, and doesn't pass them on. target_link_libraries()
# would name it in the export of a static or an object library, PRIVATE or not, and who finds that one in an install tree
# may have no CudaOps.
function(_cudaops_use_only target interface)
  set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES ${interface})
endfunction()

# _cudaops_link_toolkit(<target>)
#
# The toolkit's headers for host sources, and the runtime that CUDA_RUNTIME_LIBRARY asks for:
# CMake links one only where a .cu is among the sources.
function(_cudaops_link_toolkit target)
  target_link_libraries(${target} PRIVATE CudaOps::cuda_headers)
  _cudaops_state_get(BACKEND backend)
  if(backend STREQUAL "HIP")
    return()
  endif()
  set(runtime "$<UPPER_CASE:$<TARGET_PROPERTY:CUDA_RUNTIME_LIBRARY>>")
  target_link_libraries(
    ${target}
    PRIVATE "$<$<NOT:$<OR:$<STREQUAL:${runtime},SHARED>,$<STREQUAL:${runtime},NONE>>>:CudaOps::cudart>"
  )
endfunction()

function(cudaops_target_defaults)
  list(APPEND CMAKE_MESSAGE_CONTEXT "CudaOps.cudaops_target_defaults")
  _cudaops_check_one_target(cudaops_target_defaults target ${ARGC} "${ARGV}")
  get_property(multi GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  _cudaops_option(CUDAOPS_DEBUG debug)
  if(NOT multi AND "${CMAKE_BUILD_TYPE}" STREQUAL "" AND NOT debug)
    # Without optimisation a host loop can be 100 times slower. An -O option of the user is kept.
    foreach(language IN ITEMS CXX CUDA HIP)
      if(NOT " ${CMAKE_${language}_FLAGS}" MATCHES " -O")
        target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:${language}>:-O3>")
        target_compile_definitions(${target} PRIVATE "$<$<COMPILE_LANGUAGE:${language}>:NDEBUG>")
      endif()
    endforeach()
    _cudaops_state_get(BUILD_TYPE_SAID said)
    if(NOT said)
      _cudaops_state_set(BUILD_TYPE_SAID TRUE)
      _cudaops_status("CudaOps: CMAKE_BUILD_TYPE is empty: ops and kernels are compiled as Release")
    endif()
  endif()
  _cudaops_host_compiler_target(${target})
  _cudaops_debug_target(${target})
  _cudaops_wheel_build(wheel)
  _cudaops_option(CUDAOPS_PROFILE profile)
  if(
    wheel
    AND NOT profile
    AND "${CMAKE_CUDA_COMPILER_ID}" STREQUAL "NVIDIA"
    AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13
    AND NOT CMAKE_CUDA_FLAGS MATCHES "compress-mode"
  )
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:--compress-mode=size>")
  endif()
  _cudaops_options_target(${target})
  _cudaops_announce(target ${target})
  # A later find_package(Torch) of this directory reaches all its targets.
  cmake_language(DEFER CALL _cudaops_language_clean_flags)
endfunction()

# _cudaops_host_compiler_target(<target>)
#
# CMake's rules name the host compiler that was known when CUDA was enabled. Where that was before
# find_package(CudaTorchMatch) and none was known, nvcc would take gcc from the PATH: another one than CXX perhaps, checked by
# nobody. One among the project's options stays: of two, nvcc takes the last.
function(_cudaops_host_compiler_target target)
  _cudaops_state_get(BACKEND backend)
  _cudaops_state_get(HOST_COMPILER_GIVEN given)
  get_target_property(options ${target} COMPILE_OPTIONS)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  if(
    backend STREQUAL "CUDA"
    AND given
    AND "${CMAKE_CUDA_COMPILER_ID}" STREQUAL "NVIDIA"
    AND NOT "${CMAKE_CUDA_COMPILE_OBJECT} ${CMAKE_CUDA_FLAGS_${type}} ${options}" MATCHES "-ccbin|--compiler-bindir"
  )
    _cudaops_state_get(HOST_COMPILER host)
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:-ccbin=${host}>")
  endif()
endfunction()

# _cudaops_link_headers(<target> <op> <archs>): cudaops/*.h, and what check.h prints. Called for targets that may hold device code.
#
# Only device code is given what the binary holds in its command, which names the architectures anyway. For host files it
# is a constant that is linked (_cudaops_op_held()): other architectures compile no .cpp again, and its compiles are the
# same to a compiler cache.
function(_cudaops_link_headers target name archs)
  _cudaops_headers()
  _cudaops_use_only(${target} CudaOps::headers)
  target_compile_definitions(${target} PRIVATE "CUDAOPS_OP_NAME=\"${name}\"")
  _cudaops_state_get(BACKEND backend)
  if(archs)
    set(held "${archs}")
    if(backend STREQUAL "CUDA")
      _cudaops_arch_fatbin(held ${archs})
    endif()
    list(JOIN held ", " held)
    string(REPLACE "compute_" "PTX " held "${held}")
    string(MAKE_C_IDENTIFIER "${name}" symbol)
    if(NOT symbol STREQUAL name)
      # my-ops is another target than my_ops, and both may be linked into one library.
      string(SHA1 hash "${name}")
      string(SUBSTRING "${hash}" 0 8 hash)
      string(APPEND symbol "_${hash}")
    endif()
    set(symbol "cudaops_architectures_${symbol}")
    target_compile_definitions(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA,HIP>:CUDAOPS_ARCHITECTURES=\"${held}\">")
    _cudaops_target_set(${target} HELD "${held}")
    _cudaops_target_set(${target} HELD_SYMBOL "${symbol}")
  endif()
endfunction()
