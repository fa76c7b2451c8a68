# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
CudaOpsArchitectures
--------------------

Chooses the GPU architectures of code that supports only some of them, and puts them on a target.

``find_package(CudaTorchMatch)`` has determined the request for the whole
build tree, and :command:`add_torch_op` and :command:`cudaops_add_kernels`
use it; these two commands are for other targets.

.. command:: cudaops_resolve_architectures

  .. code-block:: cmake

    cudaops_resolve_architectures(<out-var>
      [REQUEST <arch>...]
      [ARCHITECTURES <arch>...]
      [UNSERVED <out-var>]
      [NVCC <path>])

  Sets ``<out-var>`` to a list of canonical entries, ``<cc><a|f|>-<real|virtual>``
  (``90a-real``, ``120-virtual``). Without a CUDA toolkit it is empty.

  ``REQUEST <arch>...``
    What is to be built. Default: the architectures of the build tree's match.
    An entry that the toolkit can't build is an error.

  ``ARCHITECTURES <arch>...``
    What the code supports: a filter, not a request. ``>=80`` stands for every
    requested one from 8.0 up. Each requested compute capability gets one
    entry: that very one (plain or ``a``), else the ``f`` of its family, else
    the nearest lower plain one of its major, else PTX of the nearest lower
    one that is listed with PTX. Where several would do, the first one written
    is taken. Entries that the toolkit can't build are passed over. Default:
    the code supports whatever is requested.

  ``UNSERVED <out-var>``
    Set to the requested compute capabilities that no entry can run on
    (``12.0``).

  ``NVCC <path>``
    The compiler to ask. Default: the toolkit of the build tree's match.

  Every spelling is accepted, in lists with blanks, commas or semicolons:

  =========================  =================================================
  ``90`` ``90a`` ``100f``    real and virtual (PTX), as CMake reads them
  ``90a-real``               real only
  ``120-virtual``            PTX only
  ``9.0`` ``9.0a``           real only, as torch reads them
  ``12.0+PTX``               real and PTX
  ``Hopper`` ``Ampere+PTX``  the compute capabilities of that name; with +PTX
                             the last one has PTX
  ``native``                 the GPUs of this machine
  ``common``                 what both toolkit and torch were made for, PTX for
                             the newest
  ``all`` ``all-major``      what nvcc's options of these names mean
  =========================  =================================================

.. command:: cudaops_target_architectures

  .. code-block:: cmake

    cudaops_target_architectures(<target> <arch>...)

  Sets the ``CUDA_ARCHITECTURES`` property of ``<target>``, for compiling and for the device
  link, and, for two or more, lets nvcc compile as many in parallel as this machine has cores,
  up to 8. An entry that the toolkit can't build is an error. ``native``, ``common``, ``all``
  and ``all-major`` depend on a toolkit: resolve them first.

Two nvcc options help some targets only, and are not set by default:

``--split-compile=4``
  The optimiser works on four functions of an architecture at a time. Use it for one file that
  is optimised for long while cores are idle: half the time with one architecture, a third
  less with seven on sixteen cores, but 7 % more with seven on two cores. The generated code
  depends on the number, and 0 means the cores of the machine: with a fixed number, machines
  can share a compiler cache.

``--compress-mode=size``
  Higher compression of device code, since CUDA 12.4: half the library size, for a compile that
  takes a third longer. Before CUDA 13 such a library needs a driver of 12.4 or later; others run
  with any driver of their major version. Wheels are built with it
  (:command:`cudaops_target_defaults`); development builds are not.

Example:

.. code-block:: cmake

  find_package(CudaOps 0.1 REQUIRED)
  find_package(CudaTorchMatch REQUIRED)
  if(CudaTorchMatch_CUDA_ENABLED)
    cudaops_resolve_architectures(archs ARCHITECTURES 90a 100f UNSERVED without)
    if(archs)
      add_library(attention SHARED attention.cu)
      cudaops_target_architectures(attention ${archs})
      target_compile_options(attention PRIVATE
        "$<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<CONFIG:Release>>:--compress-mode=size>")
    else()
      message(STATUS "attention is left out: it has no code for ${without}")
    endif()
  endif()
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
_cudaops_use(base/message base/state op/arguments)

function(cudaops_resolve_architectures)
  list(APPEND CMAKE_MESSAGE_CONTEXT "CudaOps.cudaops_resolve_architectures")
  set(lists REQUEST ARCHITECTURES)
  set(singles UNSERVED NVCC)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "${singles}" "${lists}")
  _cudaops_first_argument(out ${ARGC} "${ARGV0}")
  set(caller "cudaops_resolve_architectures(${out})")
  set(
    usage
    "cudaops_resolve_architectures(<out-var> [REQUEST <arch>...]"
    "  [ARCHITECTURES <arch>...] [UNSERVED <out-var>] [NVCC <path>])"
  )
  _cudaops_check_variable(cudaops_resolve_architectures "${out}" KEYWORDS ${lists} ${singles} USAGE ${usage})
  if(DEFINED arg_UNPARSED_ARGUMENTS AND arg_UNPARSED_ARGUMENTS STREQUAL "")
    # "${archs}" without REQUEST, where it happens to be empty.
    _cudaops_stop("${caller}: unknown argument ''." FIX ${usage})
  endif()
  # An empty value means the default; UNSERVED or NVCC without any is a slip.
  set(may_be_empty ${lists} ${singles})
  list(REMOVE_ITEM arg_KEYWORDS_MISSING_VALUES ${lists})
  list(REMOVE_ITEM may_be_empty "" ${arg_KEYWORDS_MISSING_VALUES})
  _cudaops_check_keywords("${caller}" "${ARGV}" SINGLES ${singles} LISTS ${lists} MAY_BE_EMPTY ${may_be_empty} USAGE ${usage})
  if(arg_UNSERVED AND (arg_UNSERVED STREQUAL out OR NOT arg_UNSERVED MATCHES "^[A-Za-z_][A-Za-z0-9_./+-]*$"))
    _cudaops_stop(
      "${caller}: UNSERVED is another variable, for what no architecture serves."
      FACTS "found   '${arg_UNSERVED}'"
      FIX ${usage}
    )
  endif()

  set(options "")
  foreach(keyword IN ITEMS REQUEST ARCHITECTURES NVCC)
    if(DEFINED arg_${keyword})
      list(APPEND options ${keyword} ${arg_${keyword}})
    endif()
  endforeach()
  _cudaops_use(arch/serve)
  _cudaops_arch_serve(entries unserved CALLER "${caller}" ${options})
  set(${out} "${entries}" PARENT_SCOPE)
  if(arg_UNSERVED)
    set(${arg_UNSERVED} "${unserved}" PARENT_SCOPE)
  endif()
endfunction()

function(cudaops_target_architectures)
  list(APPEND CMAKE_MESSAGE_CONTEXT "CudaOps.cudaops_target_architectures")
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "")
  _cudaops_first_argument(target ${ARGC} "${ARGV0}")
  set(caller "cudaops_target_architectures(${target})")
  set(usage "cudaops_target_architectures(<target> <arch>...)")
  if(NOT TARGET "${target}")
    _cudaops_stop("${caller}: the first argument is a target." FACTS "found   '${target}'" FIX "${usage}")
  endif()
  get_target_property(imported ${target} IMPORTED)
  get_target_property(aliased ${target} ALIASED_TARGET)
  get_target_property(type ${target} TYPE)
  if(imported OR aliased OR type MATCHES "^(INTERFACE_LIBRARY|UTILITY)$")
    set(found "${type}")
    if(aliased)
      set(found "an alias of ${aliased}")
    elseif(imported)
      set(found "an imported target")
    endif()
    _cudaops_stop(
      "${caller}: architectures belong to a target that is compiled in this project."
      FACTS "found   ${target}, ${found}" "wanted  a library or an executable"
      FIX "${usage}"
    )
  endif()
  _cudaops_state_get(BACKEND backend)
  if(backend STREQUAL "HIP")
    _cudaops_use(arch/hip)
    _cudaops_hip_resolve(entries ignored CALLER "${caller}" REQUEST ${arg_UNPARSED_ARGUMENTS})
    set_target_properties(${target} PROPERTIES HIP_ARCHITECTURES "${entries}")
    return()
  endif()
  _cudaops_state_get(ARCHITECTURES entries)
  _cudaops_state_get(ARCHITECTURES_VARIABLE spelled)
  # The match has looked at its own.
  if("${arg_UNPARSED_ARGUMENTS}" STREQUAL "" OR NOT "${arg_UNPARSED_ARGUMENTS}" STREQUAL entries)
    _cudaops_use(arch/check arch/spell)
    set(given FALSE)
    if(DEFINED arg_UNPARSED_ARGUMENTS)
      set(given TRUE)
    endif()
    _cudaops_arch_check_target(${target} entries ${given} ${arg_UNPARSED_ARGUMENTS})
    _cudaops_arch_spell(spelled ${entries})
  endif()
  set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "${spelled}")

  # Each virtual arch is one run of cicc. Two cores take longer for seven of them at once than two by two, and three times
  # the memory. The compiler caches don't go by the number.
  string(REGEX REPLACE "-(real|virtual)" "" archs "${entries}")
  list(REMOVE_DUPLICATES archs)
  list(LENGTH archs threads)
  if(threads GREATER 8)
    set(threads 8)
  endif()
  _cudaops_arch_cores(cores)
  if(threads GREATER cores)
    set(threads ${cores})
  endif()
  set(option "")
  if(threads GREATER 1 AND NOT " ${CMAKE_CUDA_FLAGS} " MATCHES " (--threads|-t)[ =0-9]")
    set(option "--threads=${threads}")
  endif()
  # Through a property, so that a second call replaces the number.
  get_property(again TARGET ${target} PROPERTY _CUDAOPS_THREADS SET)
  if(NOT again)
    target_compile_options(
      ${target}
      PRIVATE "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:$<TARGET_PROPERTY:_CUDAOPS_THREADS>>"
    )
  endif()
  _cudaops_target_set(${target} THREADS "${option}")
endfunction()

# The cores that the first configure of this build tree had: another number would be another command, and everything
# compiled again where a machine's cores are lent.
function(_cudaops_arch_cores out)
  if(NOT DEFINED CACHE{_CUDAOPS_CORES})
    _cudaops_use(base/machine)
    _cudaops_machine(machine)
    set(_CUDAOPS_CORES "${machine_QUOTA}" CACHE INTERNAL "cores at the first configure")
  endif()
  set(${out} "$CACHE{_CUDAOPS_CORES}" PARENT_SCOPE)
endfunction()
