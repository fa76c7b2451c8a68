# SPDX-License-Identifier: Apache-2.0
# Installations of torch that hold what is read from files and nothing else: `import torch` fails there, which is the
# proof that nobody imports it.

# fake_torch(<dir> VERSION <x.y.z> [CUDA <x.y> | ROCM <x.y> | CPU] [LAYOUT VENV|LIBTORCH|CONDA] [LOCAL <suffix>]
#            [WITHOUT <piece>...] [NO_WHEELS] [ARCHS <gfx>...] [FOUND_HIP_ONLY])
#
# VENV (default): <dir>/bin/python is a virtual environment whose site-packages has torch and, for CUDA, the wheels
#                 that torch brings (headers and libraries, no nvcc).
# LIBTORCH:       the unpacked zip.  CONDA: an environment with headers and libraries in the prefix.
# LOCAL:          what follows the version (default +cu130, +rocm6.4, +cpu).
# WITHOUT:        HEADERS LIBRARIES (no lib at all) C10 CUDA_LIBRARIES PYTHON_LIBRARY VERSION_FILE METADATA INIT
#                 HIPIFY (the translator in torch/utils), and of a ROCm build C10_HIP TORCH_HIP AMDHIP64
# ARCHS:          processors that libtorch_hip.so has code objects for (default: it has no .hip_fatbin)
# FOUND_HIP_ONLY: its TorchConfig.cmake may be loaded, and says PYTORCH_FOUND_HIP but not HIP_FOUND, as later ones do
function(fake_torch dir)
  cmake_parse_arguments(
    PARSE_ARGV 1
    arg
    "CPU;NO_WHEELS;FOUND_HIP_ONLY"
    "VERSION;CUDA;ROCM;LAYOUT;LOCAL"
    "WITHOUT;ARCHS"
  )
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
    _fake_rocm_facts("${arg_ROCM}" rocm)
    set(hip "'${rocm_HIP}'")
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
      if(arg_VERSION VERSION_GREATER_EQUAL 2.10)
        string(REPLACE "'hip']" "'hip', 'rocm', 'xpu']" text "${text}")
        set(rocm None)
        if(arg_ROCM)
          set(rocm "'${rocm_MAJOR}.${rocm_MINOR}.${rocm_PATCH}'")
        endif()
        string(APPEND text "rocm: Optional[str] = ${rocm}\nxpu: Optional[str] = None\n")
      endif()
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
      if(NOT "C10_HIP" IN_LIST arg_WITHOUT)
        list(APPEND libraries c10_hip)
      endif()
      if(NOT "TORCH_HIP" IN_LIST arg_WITHOUT)
        if(arg_ARCHS)
          fake_fatbin("${lib}/libtorch_hip.so" ${arg_ARCHS})
        else()
          list(APPEND libraries torch_hip)
        endif()
      endif()
      # The wheels bring the runtime under a file name without number, with the SONAME that it always had.
      if(NOT "AMDHIP64" IN_LIST arg_WITHOUT AND NOT arg_LAYOUT STREQUAL "CONDA")
        fake_library("${lib}/libamdhip64.so" SONAME libamdhip64.so.${rocm_MAJOR})
      endif()
    endif()
    foreach(library IN LISTS libraries)
      fake_library("${lib}/lib${library}.so")
    endforeach()
  endif()
  if(NOT "HIPIFY" IN_LIST arg_WITHOUT AND NOT arg_LAYOUT STREQUAL "LIBTORCH")
    # Every torch brings the translator. Version 2 of the translator came with torch 2.11.
    set(hipify 2.0.0)
    if(arg_VERSION VERSION_LESS 2.11)
      set(hipify 1.0.0)
    endif()
    file(WRITE "${root}/utils/__init__.py" "raise ImportError('this torch must not be imported')\n")
    file(WRITE "${root}/utils/hipify/__init__.py" "from .version import __version__\n")
    file(WRITE "${root}/utils/hipify/version.py" "__version__ = '${hipify}'\n")
    foreach(file IN ITEMS constants.py cuda_to_hip_mappings.py hipify_python.py)
      configure_file("${case_TESTS_DIR}/fakes/hipify/${file}" "${root}/utils/hipify/${file}" COPYONLY)
    endforeach()
  endif()
  if(arg_ROCM)
    _fake_torch_hip("${root}" "${include}" "${share}" "${arg_WITHOUT}")
  endif()
  set(text "message(FATAL_ERROR \"TorchConfig.cmake must not be loaded\")\n")
  if(arg_FOUND_HIP_ONLY)
    cmake_path(RELATIVE_PATH lib BASE_DIRECTORY "${share}/cmake/Torch" OUTPUT_VARIABLE lib_name)
    string(
      CONCAT text
      "set(PYTORCH_FOUND_HIP TRUE)\n"
      "include(\"\${CMAKE_CURRENT_LIST_DIR}/../Caffe2/Caffe2Targets.cmake\")\n"
      "set(TORCH_LIBRARIES torch torch_library \"\${CMAKE_CURRENT_LIST_DIR}/${lib_name}/libc10_hip.so\")\n"
      "set(TORCH_FOUND TRUE)\nset(Torch_FOUND TRUE)\n"
    )
  endif()
  file(WRITE "${share}/cmake/Torch/TorchConfig.cmake" "${text}")
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

# What a ROCm build has more: headers, CMake's targets.
function(_fake_torch_hip root include share without)
  if(NOT "HEADERS" IN_LIST without)
    foreach(header IN ITEMS c10/hip/HIPStream.h ATen/hip/HIPContext.h)
      file(WRITE "${include}/${header}" "#pragma once\n#include <hip/hip_runtime.h>\n")
    endforeach()
  endif()
  set(text "# The targets of a ROCm build, with what its consumers see of them.\n")
  foreach(
    target
    IN
    ITEMS "c10|" "c10_hip|c10" "torch_cpu|c10" "torch_hip|torch_cpu;c10_hip" "torch|torch_cpu;torch_hip"
  )
    string(REGEX MATCH "^(.*)\\|(.*)$" matched "${target}")
    string(
      APPEND text
      "if(NOT TARGET ${CMAKE_MATCH_1})\n  add_library(${CMAKE_MATCH_1} SHARED IMPORTED)\n"
      "  set_target_properties(${CMAKE_MATCH_1} PROPERTIES IMPORTED_LOCATION \"${root}/lib/lib${CMAKE_MATCH_1}.so\"\n"
      "    INTERFACE_LINK_LIBRARIES \"${CMAKE_MATCH_2}\")\nendif()\n"
    )
  endforeach()
  # The machine that built it had its ROCm in /opt/rocm; here nothing may be there.
  string(
    APPEND text
    "set_property(TARGET torch_hip APPEND PROPERTY INTERFACE_LINK_LIBRARIES \"/opt/rocm/lib/libamdhip64.so\")\n"
    "set_property(TARGET torch_hip PROPERTY INTERFACE_COMPILE_DEFINITIONS \"USE_ROCM;__HIP_PLATFORM_AMD__=1\")\n"
    "add_library(torch_library INTERFACE IMPORTED)\n"
    "set_target_properties(torch_library PROPERTIES INTERFACE_LINK_LIBRARIES torch)\n"
  )
  file(WRITE "${share}/cmake/Caffe2/Caffe2Targets.cmake" "${text}")
  file(WRITE "${share}/cmake/Caffe2/public/LoadHIP.cmake" "set(PYTORCH_FOUND_HIP TRUE)\n")
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
