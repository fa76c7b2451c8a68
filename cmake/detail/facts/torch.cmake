# SPDX-License-Identifier: Apache-2.0
# Finds torch and reads its facts from files. Nothing is imported and nothing is decided here.

_cudaops_use(base/paths base/programs base/stamps base/state facts/version_text)

# _cudaops_torch_root_of(<place> <out>)
#
# The directory that holds torch, for the spellings people give: the root itself, its share/cmake, share/cmake/Torch, a
# prefix with a site-packages, a conda prefix. Empty if there is none.
function(_cudaops_torch_root_of place out)
  set(${out} "" PARENT_SCOPE)
  cmake_path(ABSOLUTE_PATH place BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
  _cudaops_glob_in(in "${place}")
  file(GLOB sites "${in}/lib/python3*/site-packages/torch")
  file(GLOB pythons LIST_DIRECTORIES true "${in}/lib/python3*")
  list(TRANSFORM pythons APPEND "/site-packages/torch/version.py")
  _cudaops_follows("${place}/lib" ${pythons})
  foreach(
    candidate
    IN
    ITEMS "${place}" "${place}/torch" "${place}/libtorch" "${place}/../.." "${place}/../../.."
    LISTS sites
  )
    _cudaops_follows(
      "${candidate}/version.py"
      "${candidate}/__init__.py"
      "${candidate}/build-version"
      "${candidate}/share/cmake/Torch/TorchConfig.cmake"
      "${candidate}/lib/libtorch_cpu.so"
    )
    if(
      EXISTS "${candidate}/version.py"
      AND EXISTS "${candidate}/__init__.py"
      OR EXISTS "${candidate}/build-version"
      OR EXISTS "${candidate}/share/cmake/Torch/TorchConfig.cmake"
      OR EXISTS "${candidate}/lib/libtorch_cpu.so"
    )
      # lib/libtorch_cpu.so alone also describes a conda prefix; its Python package says more.
      if(candidate STREQUAL place AND sites AND NOT EXISTS "${candidate}/version.py")
        continue()
      endif()
      file(REAL_PATH "${candidate}" candidate)
      set(${out} "${candidate}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# _cudaops_torch_read(<root> <source> <out-problem>): facts of the torch at <root> into the state, or what is wrong.
function(_cudaops_torch_read root source out_problem)
  set(${out_problem} "" PARENT_SCOPE)
  _cudaops_follows("${root}/version.py" "${root}/build-version")
  if(EXISTS "${root}/version.py")
    file(READ "${root}/version.py" text LIMIT 20000)
    _cudaops_read_torch_version("${text}" torch)
    if(torch_ERROR)
      set(${out_problem} "${root}/version.py: ${torch_ERROR}" PARENT_SCOPE)
      return()
    endif()
  elseif(EXISTS "${root}/build-version")
    file(READ "${root}/build-version" text LIMIT 1000)
    _cudaops_read_build_version("${text}" torch)
    if(torch_ERROR)
      set(${out_problem} "${root}/build-version: ${torch_ERROR}" PARENT_SCOPE)
      return()
    endif()
  else()
    _cudaops_torch_read_headers("${root}" torch)
    if(torch_VERSION STREQUAL "")
      set(${out_problem} "${root}: neither version.py nor build-version nor torch/version.h" PARENT_SCOPE)
      return()
    endif()
  endif()
  _cudaops_version_wanted("${torch_RELEASE}" wanted)
  if(NOT wanted)
    set(${out_problem} "torch ${torch_VERSION}, but ${CudaTorchMatch_FIND_VERSION_COMPLETE} was asked for" PARENT_SCOPE)
    return()
  endif()

  # conda-forge keeps headers and libraries in the prefix, not beside the Python package.
  cmake_path(SET prefix NORMALIZE "${root}/../../../..")
  string(REGEX REPLACE "/$" "" prefix "${prefix}")
  set(include "")
  foreach(candidate IN ITEMS "${root}/include" "${prefix}/include")
    _cudaops_follows("${candidate}/ATen/ATen.h" "${candidate}/torch")
    if(EXISTS "${candidate}/ATen/ATen.h" OR EXISTS "${candidate}/torch/csrc")
      set(include "${candidate}")
      break()
    endif()
  endforeach()
  set(lib "")
  foreach(candidate IN ITEMS "${root}/lib" "${prefix}/lib" "${root}/lib64")
    _cudaops_follows("${candidate}/libtorch_cpu.so" "${candidate}/libtorch_cpu.a")
    if(EXISTS "${candidate}/libtorch_cpu.so" OR EXISTS "${candidate}/libtorch_cpu.a")
      set(lib "${candidate}")
      break()
    endif()
  endforeach()

  _cudaops_torch_machine("${lib}" problem)
  if(NOT problem STREQUAL "")
    set(${out_problem} "${problem}" PARENT_SCOPE)
    return()
  endif()

  # Names and times of the libraries that are looked for here.
  _cudaops_follows("${lib}")
  foreach(
    library
    IN
    ITEMS c10 torch_cuda c10_cuda torch_hip c10_hip
  )
    if(EXISTS "${lib}/lib${library}.so")
      _cudaops_follows("${lib}/lib${library}.so")
    endif()
  endforeach()
  # What is missing is named where an op needs it: kernels build without any of it.
  set(problem "")
  if(include STREQUAL "")
    set(problem "no headers (${root}/include/ATen/ATen.h)")
  elseif(lib STREQUAL "")
    set(problem "no libtorch_cpu.so (${root}/lib)")
  elseif(NOT EXISTS "${lib}/libc10.so" AND NOT EXISTS "${lib}/libc10.a")
    set(problem "no libc10.so (${lib})")
  endif()

  if(torch_KIND STREQUAL "UNKNOWN")
    set(torch_KIND CPU)
    if(EXISTS "${lib}/libtorch_hip.so")
      set(torch_KIND HIP)
    elseif(EXISTS "${lib}/libtorch_cuda.so")
      set(torch_KIND CUDA)
      _cudaops_glob_in(in "${lib}")
      file(GLOB runtimes "${in}/libcudart*.so.*")
      if(runtimes MATCHES "libcudart[^/;]*\\.so\\.([0-9]+\\.[0-9]+)")
        set(torch_CUDA "${CMAKE_MATCH_1}")
      endif()
    endif()
  endif()
  if(torch_KIND STREQUAL "HIP" AND problem STREQUAL "")
    foreach(library IN ITEMS c10_hip torch_hip)
      if(NOT EXISTS "${lib}/lib${library}.so")
        set(problem "version.py says ROCm ${torch_HIP}, but there is no lib${library}.so (${lib})")
      endif()
    endforeach()
  elseif(torch_KIND STREQUAL "CUDA" AND problem STREQUAL "")
    foreach(library IN ITEMS c10_cuda torch_cuda)
      if(NOT EXISTS "${lib}/lib${library}.so" AND NOT EXISTS "${lib}/lib${library}.a")
        set(problem "it was built for CUDA ${torch_CUDA}, but there is no lib${library}.so (${lib})")
      endif()
    endforeach()
  endif()

  set(standard "")
  if(EXISTS "${include}/ATen/ATen.h")
    file(READ "${include}/ATen/ATen.h" text LIMIT 4000)
    _cudaops_torch_cxx_standard("${text}" standard)
  endif()
  # ATen.h refuses what can't work; torch's own CMake file says what torch is built and tested with (2.12 asks for 20
  # where ATen.h still takes 17).
  foreach(config IN ITEMS "${root}/share/cmake/Torch/TorchConfig.cmake" "${lib}/cmake/Torch/TorchConfig.cmake")
    _cudaops_follows("${config}")
    if(EXISTS "${config}")
      file(STRINGS "${config}" lines REGEX "CXX_STANDARD [0-9]+|cxx_std_[0-9]+")
      string(REGEX MATCHALL "(CXX_STANDARD |cxx_std_)[0-9]+" found "${lines}")
      foreach(item IN LISTS found)
        string(REGEX MATCH "[0-9]+$" number "${item}")
        if(standard STREQUAL "" OR number GREATER standard)
          set(standard ${number})
        endif()
      endforeach()
      break()
    endif()
  endforeach()
  if(standard STREQUAL "")
    set(standard 17)
  endif()

  foreach(
    field
    IN
    ITEMS VERSION RELEASE KIND CUDA HIP
  )
    _cudaops_state_set(TORCH_${field} "${torch_${field}}")
  endforeach()
  _cudaops_state_set(TORCH_DIR "${root}")
  _cudaops_state_set(TORCH_SOURCE "${source}")
  _cudaops_state_set(TORCH_INCLUDE_DIR "${include}")
  _cudaops_state_set(TORCH_LIB_DIR "${lib}")
  _cudaops_state_set(TORCH_CXX_STANDARD "${standard}")
  _cudaops_state_set(TORCH_PROBLEM "${problem}")
endfunction()

# _cudaops_torch_machine(<lib> <out-problem>)
#
# Where the compiler builds for another machine, the torch of this one is no torch: the names of machines in the ELF headers
# of libc10.so and of what CMake compiled when it detected the compiler.
function(_cudaops_torch_machine lib out_problem)
  set(${out_problem} "" PARENT_SCOPE)
  set(machines "")
  foreach(file IN ITEMS "${CMAKE_PLATFORM_INFO_DIR}/CMakeDetermineCompilerABI_CXX.bin" "${lib}/libc10.so")
    if(NOT EXISTS "${file}")
      return()
    endif()
    file(READ "${file}" header LIMIT 20 HEX)
    if(NOT header MATCHES "^7f454c46.*(....)$")
      return()
    endif()
    list(APPEND machines "${CMAKE_MATCH_1}")
  endforeach()
  list(REMOVE_DUPLICATES machines)
  list(LENGTH machines count)
  if(count EQUAL 2)
    _cudaops_cxx(cxx)
    set(${out_problem} "${lib} is for another machine than the one that ${cxx} builds for" PARENT_SCOPE)
  endif()
endfunction()

# _cudaops_torch_keys(<out>): the keys of the state that hold the facts of torch, and of the Python that runs it.
function(_cudaops_torch_keys out)
  set(torch "DIR;SOURCE;VERSION;RELEASE;KIND;CUDA;HIP;INCLUDE_DIR;LIB_DIR;CXX_STANDARD;PROBLEM;TOOLKIT_PIN")
  set(python "EXECUTABLE;VERSION;INCLUDE_DIR;EXT_SUFFIX;FREE_THREADED;NVIDIA_DIRS")
  list(TRANSFORM torch PREPEND TORCH_)
  list(TRANSFORM python PREPEND PYTHON_)
  set(${out} ${torch} ${python} PARENT_SCOPE)
endfunction()

# _cudaops_torch_read_headers(<root> <prefix>): the version of a torch that has no file saying it (Debian's, conda's).
function(_cudaops_torch_read_headers root prefix)
  foreach(
    field
    IN
    ITEMS VERSION RELEASE CUDA HIP ERROR
  )
    set(${prefix}_${field} "" PARENT_SCOPE)
  endforeach()
  set(${prefix}_KIND "UNKNOWN" PARENT_SCOPE)
  foreach(header IN ITEMS include/torch/headeronly/version.h include/torch/csrc/api/include/torch/version.h)
    _cudaops_follows("${root}/${header}")
    if(EXISTS "${root}/${header}")
      file(STRINGS "${root}/${header}" lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
      string(REGEX MATCHALL "[0-9]+" numbers "${lines}")
      list(LENGTH numbers count)
      if(count EQUAL 3)
        list(JOIN numbers "." version)
        set(${prefix}_VERSION "${version}" PARENT_SCOPE)
        set(${prefix}_RELEASE "${version}" PARENT_SCOPE)
        return()
      endif()
    endif()
  endforeach()
endfunction()

# _cudaops_version_wanted(<release> <out>): whether find_package's version request is met.
function(_cudaops_version_wanted release out)
  set(${out} TRUE PARENT_SCOPE)
  if(CudaTorchMatch_FIND_VERSION_RANGE)
    if(release VERSION_LESS CudaTorchMatch_FIND_VERSION_MIN)
      set(${out} FALSE PARENT_SCOPE)
    elseif(CudaTorchMatch_FIND_VERSION_RANGE_MAX STREQUAL "EXCLUDE")
      if(NOT release VERSION_LESS CudaTorchMatch_FIND_VERSION_MAX)
        set(${out} FALSE PARENT_SCOPE)
      endif()
    elseif(release VERSION_GREATER CudaTorchMatch_FIND_VERSION_MAX)
      # 2.10...2.13 takes 2.13.1: an upper end names a series as far as it is written.
      if(NOT release MATCHES "^${CudaTorchMatch_FIND_VERSION_MAX}\\.")
        set(${out} FALSE PARENT_SCOPE)
      endif()
    endif()
  elseif(CudaTorchMatch_FIND_VERSION_EXACT)
    if(
      NOT release VERSION_EQUAL CudaTorchMatch_FIND_VERSION
      AND NOT release MATCHES "^${CudaTorchMatch_FIND_VERSION}\\."
    )
      set(${out} FALSE PARENT_SCOPE)
    endif()
  elseif(CudaTorchMatch_FIND_VERSION AND release VERSION_LESS CudaTorchMatch_FIND_VERSION)
    set(${out} FALSE PARENT_SCOPE)
  endif()
endfunction()
