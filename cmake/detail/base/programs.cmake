# SPDX-License-Identifier: Apache-2.0
# Programs of the machine: those on PATH, and the Python that runs our own scripts.

_cudaops_use(base/message base/options base/stamps base/state)

# _cudaops_path_lookup(<program> <out>): every such file on the PATH of the first configure, in its order.
function(_cudaops_path_lookup program out)
  set(${out} "" PARENT_SCOPE)
  if(DEFINED CMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH AND NOT CMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH)
    return()
  endif()
  _cudaops_env(PATH path)
  set(found "")
  string(REPLACE ":" ";" directories "${path}")
  foreach(directory IN LISTS directories)
    if(NOT directory STREQUAL "" AND EXISTS "${directory}/${program}" AND NOT IS_DIRECTORY "${directory}/${program}")
      cmake_path(SET file NORMALIZE "${directory}/${program}")
      list(APPEND found "${file}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES found)
  get_property(recording GLOBAL PROPERTY _CUDAOPS_REPLAY_RECORDING)
  if(recording)
    list(REMOVE_ITEM directories "")
    list(TRANSFORM directories APPEND "/${program}")
    _cudaops_follows(${directories})
  endif()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# _cudaops_cxx(<out>): the C++ compiler without a launcher before it. With CXX="ccache g++" CMake's compiler is the
# launcher, and the compiler is its argument.
function(_cudaops_cxx out)
  set(program "${CMAKE_CXX_COMPILER}")
  separate_arguments(words UNIX_COMMAND "${CMAKE_CXX_COMPILER_ARG1}")
  if(words)
    list(GET words 0 word)
    if(word MATCHES "^/")
      set(program "${word}")
    elseif(NOT word MATCHES "^-")
      _cudaops_path_lookup("${word}" found)
      if(found)
        list(GET found 0 program)
      endif()
    endif()
  endif()
  set(${out} "${program}" PARENT_SCOPE)
endfunction()

# _cudaops_nvcc_real(<nvcc> <out>): its path without links. Beside an nvcc.profile it stays the link that it may be, in a tree
# of links to several places (Nix, GNU Stow, conda): nvcc looks for its pieces from what it is run by.
function(_cudaops_nvcc_real nvcc out)
  cmake_path(GET nvcc PARENT_PATH directory)
  if(EXISTS "${directory}/nvcc.profile")
    cmake_path(GET nvcc FILENAME name)
    file(REAL_PATH "${directory}" directory)
    set(real "${directory}/${name}")
  else()
    file(REAL_PATH "${nvcc}" real)
  endif()
  set(${out} "${real}" PARENT_SCOPE)
endfunction()

# _cudaops_other_machine(<out>): the processor that the compiler builds for, where it is another one than this machine's.
# Toolchain files have several names for one, and set CMAKE_CROSSCOMPILING OFF where an emulator runs what is built (older
# ones of vcpkg wherever the host is a Linux).
function(_cudaops_other_machine out)
  set(${out} "" PARENT_SCOPE)
  set(names "${CMAKE_SYSTEM_PROCESSOR};${CMAKE_HOST_SYSTEM_PROCESSOR}")
  string(TOLOWER "${names}" names)
  list(TRANSFORM names REPLACE "^(amd64|x64|x86-64)$" "x86_64")
  list(TRANSFORM names REPLACE "^arm64$" "aarch64")
  list(GET names 0 machine)
  list(GET names -1 host)
  if(NOT machine STREQUAL host)
    set(${out} "${machine}" PARENT_SCOPE)
  endif()
endfunction()

# _cudaops_python_tool(<out>)
#
# An interpreter for our own scripts, which need no package: torch's, else the first on PATH; or empty.
function(_cudaops_python_tool out)
  _cudaops_state_get(PYTHON_EXECUTABLE python)
  if(python STREQUAL "")
    _cudaops_path_lookup(python3 found)
    if(found)
      list(GET found 0 python)
    endif()
  endif()
  set(${out} "${python}" PARENT_SCOPE)
endfunction()

# _cudaops_python_package(<out>)
#
# The directory of our Python package: beside the modules where they are installed, beside cmake/ in a checkout, around
# cmake/ in a wheel.
function(_cudaops_python_package out)
  foreach(place IN ITEMS python/cudaops ../python/cudaops ..)
    cmake_path(SET directory NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../${place}")
    string(REGEX REPLACE "/$" "" directory "${directory}")
    if(EXISTS "${directory}/_run.py")
      set(${out} "${directory}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  cmake_path(SET modules NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../..")
  _cudaops_stop(
    "find_package(CudaOps): the package's Python part is missing."
    FACTS "found   ${modules}, without the directory python/cudaops beside it or in it"
    FIX "install CudaOps again; a copy of a checkout needs python/ as well as cmake/"
  )
endfunction()

# _cudaops_python_command(<out> <python> <module>): runs a module of our Python package, whose arguments follow. Neither
# the user's site-packages nor PYTHONPATH play a part, and nothing is written beside the modules.
function(_cudaops_python_command out python module)
  _cudaops_python_package(package)
  set(
    ${out}
    "${python}"
    -I
    -S
    -B
    "${package}/_run.py"
    ${module}
    PARENT_SCOPE
  )
endfunction()
