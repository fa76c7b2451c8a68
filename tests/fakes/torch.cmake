# SPDX-License-Identifier: Apache-2.0
# Installations of torch that hold what is read from files and nothing else: `import torch` fails there, which is the
# proof that nobody imports it.

# fake_torch(<dir> VERSION <x.y.z> [CUDA <x.y> | ROCM <x.y> | CPU] [LAYOUT VENV|LIBTORCH|CONDA] [LOCAL <suffix>]
#            [WITHOUT <piece>...] [NO_WHEELS])
#
# VENV (default): <dir>/bin/python is a virtual environment whose site-packages has torch and, for CUDA, the wheels
#                 that torch brings (headers and libraries, no nvcc).
# LIBTORCH:       the unpacked zip.  CONDA: an environment with headers and libraries in the prefix.
# LOCAL:          what follows the version (default +cu130, +rocm6.4, +cpu).
# WITHOUT:        HEADERS LIBRARIES (no lib at all) C10 CUDA_LIBRARIES PYTHON_LIBRARY VERSION_FILE METADATA INIT
function(fake_torch dir)
  cmake_parse_arguments(PARSE_ARGV 1 arg "CPU;NO_WHEELS" "VERSION;CUDA;ROCM;LAYOUT;LOCAL" "WITHOUT")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_VERSION)
    message(FATAL_ERROR "fake_torch: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_LAYOUT)
    set(arg_LAYOUT VENV)
  endif()
  set(cuda None)
  set(hip None)
  set(local "+cpu")
  if(arg_CUDA)
    set(cuda "'${arg_CUDA}'")
    string(REPLACE "." "" digits "${arg_CUDA}")
    set(local "+cu${digits}")
  elseif(arg_ROCM)
    set(hip "'${arg_ROCM}.43482'")
    set(local "+rocm${arg_ROCM}")
  endif()
  if(DEFINED arg_LOCAL)
    set(local "${arg_LOCAL}")
  endif()
  set(version "${arg_VERSION}${local}")
  string(REGEX MATCH "^([0-9]+)\\.([0-9]+)\\.([0-9]+)" matched "${arg_VERSION}")
  set(major "${CMAKE_MATCH_1}")
  set(minor "${CMAKE_MATCH_2}")
  set(patch "${CMAKE_MATCH_3}")
  string(REGEX REPLACE "\\..*" "" cuda_major "${arg_CUDA}")

  set(site "${dir}/lib/python${case_PYTHON_VERSION}/site-packages")
  if(arg_LAYOUT STREQUAL "LIBTORCH")
    set(root "${dir}")
  else()
    fake_python("${dir}")
    set(root "${site}/torch")
  endif()
  set(include "${root}/include")
  set(lib "${root}/lib")
  set(share "${root}/share")
  if(arg_LAYOUT STREQUAL "CONDA")
    set(include "${dir}/include")
    set(lib "${dir}/lib")
    set(share "${dir}/share")
    file(
      WRITE "${dir}/conda-meta/pytorch-${arg_VERSION}-0.json"
      "{\"name\": \"pytorch\", \"version\": \"${arg_VERSION}\"}\n"
    )
  endif()

  if(arg_LAYOUT STREQUAL "LIBTORCH")
    if(NOT "VERSION_FILE" IN_LIST arg_WITHOUT)
      file(WRITE "${root}/build-version" "${version}\n")
    endif()
    file(WRITE "${root}/build-hash" "0000000000000000000000000000000000000000\n")
  else()
    if(NOT "INIT" IN_LIST arg_WITHOUT)
      file(WRITE "${root}/__init__.py" "raise ImportError('this torch must not be imported')\n")
    endif()
    if(NOT "VERSION_FILE" IN_LIST arg_WITHOUT)
      string(
        CONCAT text
        "from typing import Optional\n\n"
        "__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip']\n"
        "__version__ = '${version}'\n"
        "debug = False\n"
        "cuda: Optional[str] = ${cuda}\n"
        "git_version = '0000000000000000000000000000000000000000'\n"
        "hip: Optional[str] = ${hip}\n"
      )
      file(WRITE "${root}/version.py" "${text}")
    endif()
    if(NOT "METADATA" IN_LIST arg_WITHOUT AND arg_LAYOUT STREQUAL "VENV")
      set(text "Metadata-Version: 2.4\nName: torch\nVersion: ${arg_VERSION}\nRequires-Dist: filelock\n")
      if(arg_CUDA VERSION_GREATER_EQUAL 13.0)
        set(pin "${arg_CUDA}.2")
        if(arg_CUDA VERSION_EQUAL 13.0 AND arg_VERSION VERSION_GREATER_EQUAL 2.13)
          set(pin 13.0.3)
        endif()
        string(
          APPEND text
          "Requires-Dist: cuda-toolkit[cublas,cudart,cufft,nvrtc]==${pin}; platform_system == \"Linux\"\n"
        )
      elseif(arg_CUDA)
        string(
          APPEND text
          "Requires-Dist: nvidia-cuda-runtime-cu12==${arg_CUDA}.90; platform_system == \"Linux\" and platform_machine == \"x86_64\"\n"
        )
      endif()
      file(WRITE "${site}/torch-${arg_VERSION}.dist-info/METADATA" "${text}")
    endif()
  endif()

  if(NOT "HEADERS" IN_LIST arg_WITHOUT)
    set(standard 201703L)
    if(arg_VERSION VERSION_GREATER_EQUAL 2.14)
      set(standard 202002L)
    endif()
    file(
      WRITE "${include}/ATen/ATen.h"
      "#pragma once\n\n#if !defined(_MSC_VER) && __cplusplus < ${standard}\n#error C++ standard\n#endif\n"
    )
    set(
      text
      "#pragma once\n#define TORCH_VERSION_MAJOR ${major}\n#define TORCH_VERSION_MINOR ${minor}\n#define TORCH_VERSION_PATCH ${patch}\n"
    )
    file(WRITE "${include}/torch/csrc/api/include/torch/version.h" "${text}")
    if(arg_VERSION VERSION_GREATER_EQUAL 2.10)
      file(WRITE "${include}/torch/headeronly/version.h" "${text}")
    endif()
    foreach(
      header
      IN
      ITEMS
        torch/extension.h
        torch/library.h
        torch/csrc/stable/library.h
        torch/csrc/inductor/aoti_torch/c/shim.h
        c10/macros/Macros.h
    )
      file(WRITE "${include}/${header}" "#pragma once\n")
    endforeach()
  endif()
  if(NOT "LIBRARIES" IN_LIST arg_WITHOUT)
    set(libraries torch torch_cpu torch_global_deps)
    if(NOT "C10" IN_LIST arg_WITHOUT)
      list(APPEND libraries c10)
    endif()
    if(NOT "PYTHON_LIBRARY" IN_LIST arg_WITHOUT AND NOT arg_LAYOUT STREQUAL "LIBTORCH")
      list(APPEND libraries torch_python)
    endif()
    if(arg_CUDA AND NOT "CUDA_LIBRARIES" IN_LIST arg_WITHOUT)
      list(APPEND libraries c10_cuda torch_cuda)
    elseif(arg_ROCM AND NOT "CUDA_LIBRARIES" IN_LIST arg_WITHOUT)
      list(APPEND libraries c10_hip torch_hip)
    endif()
    foreach(library IN LISTS libraries)
      fake_library("${lib}/lib${library}.so")
    endforeach()
  endif()
  file(WRITE "${share}/cmake/Torch/TorchConfig.cmake" "message(FATAL_ERROR \"TorchConfig.cmake must not be loaded\")\n")
  file(
    WRITE "${share}/cmake/Torch/TorchConfigVersion.cmake"
    "set(PACKAGE_VERSION \"${arg_VERSION}\")\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n"
  )

  if(arg_CUDA AND arg_LAYOUT STREQUAL "VENV" AND NOT arg_NO_WHEELS)
    if(arg_CUDA VERSION_GREATER_EQUAL 13.0)
      fake_toolkit("${site}" VERSION ${arg_CUDA} LAYOUT PIP WITHOUT NVCC)
    else()
      set(number "${cuda_major}080")
      configure_file(
        "${case_TESTS_DIR}/fakes/cuda_runtime.h.in"
        "${site}/nvidia/cuda_runtime/include/cuda_runtime.h"
        @ONLY
      )
      configure_file(
        "${case_TESTS_DIR}/fakes/cuda_runtime_api.h.in"
        "${site}/nvidia/cuda_runtime/include/cuda_runtime_api.h"
        @ONLY
      )
      fake_library("${site}/nvidia/cuda_runtime/lib/libcudart.so.${cuda_major}")
    endif()
  endif()
endfunction()

# fake_python(<dir>): a virtual environment without packages; <dir>/bin/python and python3.
function(fake_python dir)
  cmake_path(GET case_PYTHON PARENT_PATH home)
  file(MAKE_DIRECTORY "${dir}/bin" "${dir}/lib/python${case_PYTHON_VERSION}/site-packages")
  file(
    WRITE "${dir}/pyvenv.cfg"
    "home = ${home}\ninclude-system-site-packages = false\nversion = ${case_PYTHON_VERSION}\n"
  )
  file(CREATE_LINK "${case_PYTHON}" "${dir}/bin/python" SYMBOLIC)
  file(CREATE_LINK python "${dir}/bin/python3" SYMBOLIC)
endfunction()
