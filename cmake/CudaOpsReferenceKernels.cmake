# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
CudaOpsReferenceKernels
-----------------------

.. command:: cudaops_add_reference_kernels

  Builds kernels of CudaOps' reference library in your project, for its architectures:

  .. code-block:: cmake

    cudaops_add_reference_kernels(<op>...)

  For each op there is then a target ``CudaOps::<op>`` to link: a static library (``cudaops_<op>``) of the op's kernels
  for CUDA and the CPU, with what they call. Its headers are included as ``<op>/<op>.h``; they say what a call takes,
  its shapes, types and errors. No torch is needed.

  Where the ``.cu`` files are built, what links an op is compiled with ``CUDAOPS_KERNELS_WITH_CUDA=1``; without it
  there are the functions for the CPU alone. What is for one architecture only (attention's kernels for ``90a``) is
  built where that architecture is requested, and chosen at run time.

  An op may be asked for again, in another directory too: there is one of each. The sources are those in the directory
  ``CudaOps_KERNELS_DIR``: ``find_package(CudaOps)`` sets it to those that come with the package.

Example:

.. code-block:: cmake

  find_package(CudaOps 0.1 REQUIRED)
  find_package(CudaTorchMatch)   # without REQUIRED: no torch is needed
  cudaops_add_reference_kernels(attention rms_norm)
  target_link_libraries(program PRIVATE CudaOps::attention CudaOps::rms_norm)
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
_cudaops_use(CudaOpsKernels CudaOpsShard base/closest base/message base/package)

function(cudaops_add_reference_kernels)
  list(APPEND CMAKE_MESSAGE_CONTEXT "CudaOps.cudaops_add_reference_kernels")
  set(directory "${CudaOps_KERNELS_DIR}")
  if(directory STREQUAL "")
    # find_package() may have been called in another directory.
    _cudaops_kernels_dir(directory)
  endif()
  if(directory STREQUAL "")
    _cudaops_stop(
      "cudaops_add_reference_kernels: this copy of the package came without the reference kernels."
      FACTS "found   ${CMAKE_CURRENT_FUNCTION_LIST_DIR}"
      FIX "install CudaOps whole, or with pip install cudaops"
    )
  endif()
  include("${directory}/ops.cmake")
  if(ARGC EQUAL 0)
    list(JOIN ops " " wanted)
    _cudaops_stop(
      "cudaops_add_reference_kernels: takes names of ops." FACTS "wanted  some of ${wanted}"
      FIX "cudaops_add_reference_kernels(rms_norm)"
    )
  endif()
  foreach(op IN LISTS ARGN)
    if(NOT op IN_LIST ops)
      list(JOIN ops " " wanted)
      _cudaops_closest("${op}" "${ops}" suggestion)
      if(suggestion STREQUAL "")
        set(suggestion "<name>")
      endif()
      _cudaops_stop(
        "cudaops_add_reference_kernels: there is no op of this name." FACTS "found   ${op}" "wanted  one of ${wanted}"
        FIX "cudaops_add_reference_kernels(${suggestion})"
      )
    endif()
  endforeach()
  foreach(op IN LISTS ARGN)
    _cudaops_reference_kernels_of(${op})
  endforeach()
endfunction()

# _cudaops_reference_kernels_of(<op or part>): with what it calls. In the scope of cudaops_add_reference_kernels().
function(_cudaops_reference_kernels_of op)
  if(TARGET cudaops_${op})
    return()
  endif()
  foreach(call IN LISTS ${op}_calls)
    _cudaops_reference_kernels_of(${call})
  endforeach()
  set(sources ${${op}_sources})
  set(options DEFINE CUDAOPS_KERNELS_WITH_CUDA)
  if(op IN_LIST ops)
    list(PREPEND sources ${op}/${op}.cu ${op}/${op}_cpu.cpp)
  else()
    set(options ARCHITECTURES ${${op}_architectures} DEFINE ${${op}_define})
  endif()
  list(TRANSFORM sources PREPEND "${directory}/")
  if(DEFINED ${op}_shards)
    set(instantiations ${${op}_shards})
    list(POP_FRONT instantiations template files)
    cudaops_shard_instantiations(
      cudaops_${op}_shards
      TEMPLATE "${directory}/${template}"
      INSTANTIATIONS ${instantiations}
      FILES ${files}
    )
    list(APPEND sources ${cudaops_${op}_shards})
  endif()
  cudaops_add_kernels(cudaops_${op} STATIC SOURCES ${sources} ${options})
  target_include_directories(cudaops_${op} PUBLIC "${directory}")
  list(TRANSFORM ${op}_calls PREPEND cudaops_ OUTPUT_VARIABLE called)
  target_link_libraries(cudaops_${op} PUBLIC ${called})
  add_library(CudaOps::${op} ALIAS cudaops_${op})
endfunction()
