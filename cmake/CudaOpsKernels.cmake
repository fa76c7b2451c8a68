# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
CudaOpsKernels
--------------

.. command:: cudaops_add_kernels

  Makes a library of kernels without torch: "these files, these archs, these flags".

  .. code-block:: cmake

    cudaops_add_kernels(<name> [OBJECT|STATIC|SHARED] SOURCES <file>...
      [ARCHITECTURES <arch>...] [CUDA_CUBINS] [DEFINE <macro>])

  Ops, gtests and benchmarks link it; several may share one. Host files are always built, ``.cu`` where CUDA is on and
  an architecture is left; with nothing left the target exists and is empty, so linking it needs no ``if()``.

  ``OBJECT|STATIC|SHARED``
    Kind of library; default ``OBJECT``. All are position-independent. ``SHARED`` serves ctypes.
  ``SOURCES``
    ``.cu``, host files and headers.
  ``ARCHITECTURES``
    What the code supports: a filter on what is requested, see :module:`CudaOpsArchitectures`. Default: everything.
  ``CUDA_CUBINS``
    Compiles each architecture of a ``.cu`` separately, for files that compile for long; see
    :module:`CudaOpsCubins`.
  ``DEFINE``
    A PUBLIC definition ``<macro>=1``, there only where the ``.cu`` files are built.

The target is an ordinary one: include directories, options, ``CUDA_SEPARABLE_COMPILATION``, ``install()`` work on it.
With ``install(EXPORT)`` or ``export()``, a project without CudaOps can find and link it; ``CudaOps::`` targets that you
link to it yourself are named in that export, as every other target is.
Its state (``BUILT``, ``CPU_ONLY``, ``NOT_BUILT``), reason and architectures are in the report.

Example:

.. code-block:: cmake

  cudaops_add_kernels(attention_hopper SOURCES attention_sm90.cu ARCHITECTURES 90a DEFINE HAVE_HOPPER)
  cudaops_add_kernels(attention_common SOURCES attention.cu attention_cpu.cpp)
  add_torch_op(attention SOURCES bindings.cpp CUDA_SOURCES bindings_cuda.cpp)
  target_link_libraries(attention PRIVATE attention_hopper attention_common)

The kernels of CudaOps' reference library are built by :command:`cudaops_add_reference_kernels`.
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
_cudaops_use(CudaOpsArchitectures CudaOpsTargets HipifySources base/hooks base/message base/state match/interfaces op/arguments op/code op/debug op/link op/provenance op/rpath op/state)

function(cudaops_add_kernels)
  list(APPEND CMAKE_MESSAGE_CONTEXT "CudaOps.cudaops_add_kernels")
  cmake_parse_arguments(PARSE_ARGV 1 arg "OBJECT;STATIC;SHARED;CUDA_CUBINS" "DEFINE" "SOURCES;ARCHITECTURES")
  _cudaops_first_argument(name ${ARGC} "${ARGV0}")
  set(keywords "OBJECT;STATIC;SHARED;SOURCES;ARCHITECTURES;CUDA_CUBINS;DEFINE")
  set(
    usage
    "cudaops_add_kernels(<name> [OBJECT|STATIC|SHARED] SOURCES <file>..."
    "  [ARCHITECTURES <arch>...] [CUDA_CUBINS] [DEFINE <macro>])"
  )
  _cudaops_check_name(cudaops_add_kernels "${name}" KEYWORDS ${keywords} USAGE ${usage})
  set(command "cudaops_add_kernels(${name})")
  _cudaops_check_keywords("${command}" "${ARGV}" SINGLES DEFINE LISTS SOURCES ARCHITECTURES OPTIONS OBJECT STATIC SHARED CUDA_CUBINS REQUIRED SOURCES USAGE ${usage})
  set(kind "")
  foreach(word IN ITEMS OBJECT STATIC SHARED)
    if(arg_${word})
      list(APPEND kind ${word})
    endif()
  endforeach()
  list(LENGTH kind count)
  if(count GREATER 1)
    list(JOIN kind " " found)
    _cudaops_stop("${command}: takes one kind of library." FACTS "found   ${found}" FIX ${usage})
  elseif(count EQUAL 0)
    set(kind OBJECT)
  endif()
  if(arg_DEFINE AND NOT arg_DEFINE MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    _cudaops_stop(
      "${command}: DEFINE is not the name of a macro."
      FACTS "found   ${arg_DEFINE}" "wanted  letters, digits and _; its value is 1"
      FIX "DEFINE HAVE_${name}"
    )
  endif()
  if(NOT "${arg_ARCHITECTURES}" STREQUAL "")
    _cudaops_use(op/explain)
    _cudaops_check_architectures("${command}" "${keywords}" ${arg_ARCHITECTURES})
  endif()
  _cudaops_check_sources("${command}" SOURCES "${keywords}" host device ${arg_SOURCES})
  _cudaops_check_any_code("${command}" "SOURCES holds" ${host} ${device})
  foreach(keyword IN ITEMS ARCHITECTURES CUDA_CUBINS DEFINE)
    if(NOT "${arg_${keyword}}" MATCHES "^(FALSE)?$" AND device STREQUAL "" AND NOT host MATCHES "\\$<")
      _cudaops_stop("${command}: ${keyword} applies to .cu files, and SOURCES holds none." FIX "leave ${keyword} out")
    endif()
  endforeach()
  _cudaops_check_match("${command}")

  _cudaops_op_state(state COMMAND "${command}" HOST ${host} DEVICE ${device} ARCHITECTURES ${arg_ARCHITECTURES})
  if(state_GPU STREQUAL "CUDA")
    # What is for HIP is not for CUDA.
    list(FILTER device EXCLUDE REGEX "\\.[hH][iI][pP]$")
  endif()
  set(sources ${host})
  if(state_GPU)
    # As in add_torch_op(): what takes longest begins.
    list(PREPEND sources ${device})
  endif()
  set(compiled "${sources}")
  list(FILTER compiled EXCLUDE REGEX "\\.(h|hpp|hh|hxx|cuh|inl|inc)$")
  if(compiled STREQUAL "")
    # CMake makes no library of nothing, and `ar` no archive of no object.
    set(empty "${CMAKE_CURRENT_BINARY_DIR}/CudaOps/${name}_empty.cpp")
    file(CONFIGURE OUTPUT "${empty}" CONTENT "// ${name}: nothing to build here. ${state_REASON}\n" @ONLY)
    list(APPEND sources "${empty}")
  endif()

  add_library(${name} ${kind} ${sources})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_features(${name} PRIVATE cxx_std_17)
  cudaops_target_defaults(${name})
  _cudaops_hide_paths(${name})
  _cudaops_link_headers(${name} ${name} "${state_ARCHITECTURES}")
  if(state_GPU)
    cudaops_target_architectures(${name} ${state_ARCHITECTURES})
    if(arg_CUDA_CUBINS)
      _cudaops_announce(cubins ${name} cudaops_add_kernels)
    endif()
    if(state_GPU STREQUAL "CUDA")
      target_compile_features(${name} PRIVATE cuda_std_17)
    else()
      target_compile_features(${name} PRIVATE hip_std_17)
      set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
      cudaops_target_hipify(${name})
    endif()
    if(kind STREQUAL "SHARED")
      _cudaops_link_toolkit(${name})
      if(state_GPU STREQUAL "CUDA")
        _cudaops_debug_launches(${name})
      endif()
    else()
      _cudaops_use_only(${name} CudaOps::cuda_headers)
      if(state_GPU STREQUAL "HIP")
        # CMake links CUDA's runtime to what links CUDA code. By its path: an export can't name a target of CudaOps.
        _cudaops_state_get(ROCM_RUNTIME runtime)
        target_link_libraries(${name} PRIVATE "${runtime}")
      endif()
    endif()
    if(arg_DEFINE)
      target_compile_definitions(${name} PUBLIC ${arg_DEFINE}=1)
    endif()
  endif()

  if(kind STREQUAL "SHARED")
    _cudaops_link_whole(${name} "")
  endif()

  _cudaops_state_append(KERNELS ${name})
  _cudaops_target_set(${name} KIND KERNELS)
  foreach(key IN ITEMS STATE REASON_CODE REASON ARCHITECTURES)
    _cudaops_target_set(${name} ${key} "${state_${key}}")
  endforeach()
  # At the end of this directory its author has said what it links.
  cmake_language(EVAL CODE "cmake_language(DEFER CALL _cudaops_kernels_finish [[${name}]])")
endfunction()

function(_cudaops_kernels_finish name)
  _cudaops_op_check_architectures(cudaops_add_kernels ${name})
  _cudaops_check_libraries(cudaops_add_kernels ${name})
  _cudaops_kernels_held(${name})
endfunction()
