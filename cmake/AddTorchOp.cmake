# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
AddTorchOp
----------

.. command:: add_torch_op

  Makes one loadable library of PyTorch operators.

  .. code-block:: cmake

    add_torch_op(<name>
      [SOURCES <file>...] [CUDA_SOURCES <file>...]
      [ABI STABLE|FULL|PYBIND] [TORCH_TARGET <version>] [CUDA AUTO|REQUIRED|OFF]
      [ARCHITECTURES <arch>...] [CUDA_CUBINS]
      [PYTHON_MODULE <module> [PYTHON_TARGET <version>]] [PYTHON_PACKAGE <dir>] [INSTALL <dir> [RECIPE]])

  ``lib<name>.so``, for ``torch.ops.load_library``; with ``PYTHON_MODULE`` a module that registers its ops on import.
  Needs :module:`FindCudaTorchMatch` before.

  ``SOURCES``
    Always built: schema, CPU kernels, and composite kernels, which serve every device that has no kernel of its own. A
    ``.c`` file needs C among the languages of ``project()``.
  ``CUDA_SOURCES``
    ``.cu``, and ``.cpp`` files that register CUDA kernels or call a launcher: built where the op has CUDA. A ``.cu``
    among ``SOURCES`` counts as one. At least one of the two lists. A ``.cpp`` in both lists is compiled once, whatever
    the op has: schema and kernels of both devices in one file, those of CUDA between ``#ifdef USE_CUDA`` and
    ``#endif``.
  ``ABI``
    ``STABLE`` (default): one file for ``TORCH_TARGET`` and every later torch. ``FULL``: ``TORCH_LIBRARY`` with ATen,
    tied to torch's minor version. ``PYBIND``: ``torch/extension.h``, tied to torch and Python; needs ``PYTHON_MODULE``.
    A source of a STABLE op that includes ATen or ``torch/extension.h`` is an error, and so is a C++ ``float`` in
    the head of a function for ``TORCH_BOX()``: torch passes a ``double``.
  ``TORCH_TARGET``
    The oldest torch that a STABLE op runs on. Default: 2.10.
  ``CUDA``
    ``AUTO`` (default): without CUDA the op is built for the CPU, and the report says why. ``REQUIRED``: that is an
    error. ``OFF``: without its CUDA part.
  ``ARCHITECTURES``
    What the code supports: a filter on what is requested, see :module:`CudaOpsArchitectures`. Default: everything.
  ``CUDA_CUBINS``
    Compiles each architecture of a ``.cu`` separately, for files that compile for long; see
    :module:`CudaOpsCubins`.
  ``PYTHON_MODULE``
    Name of a Python module: ``<module>.abi3.so`` (STABLE and FULL: one file for every Python), or
    ``<module>.cpython-*.so`` (PYBIND). A source's own ``PyInit_<module>`` wins over the generated one.
  ``PYTHON_TARGET``
    The oldest Python that an ``abi3`` module runs on, for sources that use Python's API: ``Python.h`` declares the API
    of that version. Default: 3.9. Set the wheel's tag accordingly (``wheel.py-api`` in scikit-build-core). A
    free-threaded Python has no ``abi3`` and ignores it.
  ``PYTHON_PACKAGE``
    Directory with the .py files of the package that the op belongs to; needs ``INSTALL``. Modules, type stubs and
    ``py.typed`` of the package and its subpackages are copied to the package in the build tree when they change,
    removed from it when they are deleted, and installed. The package is the part of ``INSTALL`` that has the
    directory's name, or else ``INSTALL`` itself. Several ops can name one package. In scikit-build-core
    ``wheel.packages`` packs the files.
  ``INSTALL``
    Directory below the install prefix. In the build tree a module, and a library with ``PYTHON_PACKAGE``, is in the
    directory of the same name below the project's build directory (or ``CMAKE_LIBRARY_OUTPUT_DIRECTORY``; with several
    configurations below ``<config>``): two packages can each have a module ``_C``, and tests import ``<package>._C``.
    Where ``CMAKE_INSTALL_PREFIX`` is below Python's site-packages at configure time, and in scikit-build-core, the
    library finds torch relative to itself; elsewhere it has no RUNPATH, and torch must be imported before it.
  ``RECIPE``
    Installs ``<name>.recipe.json`` and the sources beside the library, or without it where the op is NOT_BUILT:
    ``cudaops.OpLibrary()`` builds the op from them where no library fits. Sources, their headers in the project and in
    include directories, and what ``target_compile_options()`` and its neighbours said to the op, are a part of it; flags
    of directories and of single files aren't. Needs ``INSTALL``.

  Definitions: ``TORCH_EXTENSION_NAME``, ``CUDAOPS_OP_NAME``; STABLE: ``TORCH_TARGET_VERSION``; where the op has CUDA or
  HIP: ``USE_CUDA``; in an ``abi3`` module, from ``#include <Python.h>`` on: ``Py_LIMITED_API``, of ``PYTHON_TARGET``, where neither the
  target nor the source has defined it before.

  CMake's target properties work as for any target: include directories, options, ``OUTPUT_NAME``,
  ``CUDA_SEPARABLE_COMPILATION``, ``CUDA_RUNTIME_LIBRARY`` (default: static, so that one file serves torch builds of
  several CUDA majors).

  nvcc options in ``target_compile_options()`` need their language where the op has C++ files
  (``$<$<COMPILE_LANGUAGE:CUDA>:…>``); those that the C++ compiler rejects are an error, as are those that mean something
  else to nvcc (``-Werror``) and a ``-std=`` older than C++17. The files that this command generates are compiled without
  options that are set for all languages. Architectures among the options cause a warning.

  Two steps shorten the build of a STABLE op:

  * ``torch/csrc/stable/library.h`` is precompiled with gcc, where it is the first header of a source, or in a Python
    module the next one after ``Python.h``: once for each user, torch and set of options, 60 MB in the store
    (:variable:`CUDAOPS_STORE`). Where another header comes before it, the configure step says so. The precompiled
    header is not used where a header in it has changed, where options or macros differ, with sccache or a shared
    cache, with ``CMAKE_DISABLE_PRECOMPILE_HEADERS``, with headers that the target precompiles itself, or with
    :variable:`CUDAOPS_PRECOMPILE` off.
  * The op is linked against stubs of torch's libraries, by gold where that works; by the compiler's default linker with
    torch's libraries where it fails, where the project sets ``RULE_LAUNCH_LINK``, or where options mean different
    things to different linkers (scripts, plug-ins, LTO). Choose a linker as for any target: ``CMAKE_LINKER_TYPE``
    (CMake 3.29 and later) or ``target_link_options(<name> PRIVATE -fuse-ld=bfd)``.

  An undefined symbol is a link error. Only the symbols that the found Python exports may be left to the interpreter,
  for each ABI and with or without ``PYTHON_MODULE``; no keyword is needed where a header or a linked library uses
  Python's API.

  The state of the op is ``BUILT``, ``CPU_ONLY`` or ``NOT_BUILT``, with a reason code, in the table at the end of the
  configure step and in ``cudaops-report.json``. A NOT_BUILT target exists, is not part of ``all``, and fails with the
  reason when it is built. The test ``<name>.architectures`` compares the built file's device code with the request.

``CUDAOPS_PRECOMPILE`` (variable, or environment variable of the same name)
  ``ON`` (default): ops of the stable ABI are compiled with torch's headers precompiled where that is possible (above).
  ``OFF``: without.

Example:

.. code-block:: cmake

  add_torch_op(my_ops
    PYTHON_MODULE _C PYTHON_PACKAGE python/my_ops INSTALL my_ops
    SOURCES      my_ops.cpp
    CUDA_SOURCES my_ops.cpp my_ops.cu)
  target_compile_options(my_ops PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:--use_fast_math>")
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
_cudaops_use(CudaOpsArchitectures CudaOpsTargets HipifySources base/hooks base/message base/state op/arguments op/code op/debug op/finish op/link op/rpath op/sources op/state)

function(add_torch_op)
  list(APPEND CMAKE_MESSAGE_CONTEXT "CudaOps.add_torch_op")
  set(singles "ABI;TORCH_TARGET;CUDA;PYTHON_MODULE;PYTHON_TARGET;PYTHON_PACKAGE;INSTALL")
  set(lists SOURCES CUDA_SOURCES ARCHITECTURES)
  cmake_parse_arguments(PARSE_ARGV 1 arg "CUDA_CUBINS;RECIPE" "${singles}" "${lists}")
  _cudaops_first_argument(name ${ARGC} "${ARGV0}")
  set(keywords ${lists} ${singles} CUDA_CUBINS RECIPE)
  set(
    usage
    "add_torch_op(<name> [SOURCES <file>...] [CUDA_SOURCES <file>...]"
    "  [ABI STABLE|FULL|PYBIND] [TORCH_TARGET <version>] [CUDA AUTO|REQUIRED|OFF]"
    "  [ARCHITECTURES <arch>...] [CUDA_CUBINS] [PYTHON_MODULE <module> [PYTHON_TARGET <version>]]"
    "  [PYTHON_PACKAGE <dir>] [INSTALL <dir> [RECIPE]])"
  )
  _cudaops_check_name(add_torch_op "${name}" KEYWORDS ${keywords} USAGE ${usage})
  set(command "add_torch_op(${name})")
  _cudaops_check_keywords("${command}" "${ARGV}" SINGLES ${singles} LISTS ${lists} OPTIONS CUDA_CUBINS RECIPE USAGE ${usage})
  _cudaops_check_choice("${command}" ABI "${arg_ABI}" STABLE FULL PYBIND)
  _cudaops_check_choice("${command}" CUDA "${arg_CUDA}" AUTO REQUIRED OFF)
  if("${arg_SOURCES}" STREQUAL "" AND "${arg_CUDA_SOURCES}" STREQUAL "")
    _cudaops_stop("${command}: SOURCES and CUDA_SOURCES are both missing." FACTS "wanted  at least one file" FIX ${usage})
  endif()
  set(abi STABLE)
  if(arg_ABI)
    set(abi ${arg_ABI})
  endif()
  if(NOT "${arg_ARCHITECTURES}" STREQUAL "")
    _cudaops_use(op/explain)
    _cudaops_check_architectures("${command}" "${keywords}" ${arg_ARCHITECTURES})
  endif()
  _cudaops_check_sources("${command}" SOURCES "${keywords}" host device ${arg_SOURCES})
  _cudaops_check_sources("${command}" CUDA_SOURCES "${keywords}" cuda_host cuda_device ${arg_CUDA_SOURCES})
  list(APPEND device ${cuda_device})
  _cudaops_check_any_code("${command}" "SOURCES and CUDA_SOURCES hold" ${host} ${cuda_host} ${device})
  if(device STREQUAL "" AND cuda_host STREQUAL "")
    if("${arg_CUDA}" STREQUAL "REQUIRED")
      _cudaops_stop(
        "${command}: CUDA REQUIRED, and the op has no CUDA source."
        FIX "CUDA_SOURCES <file>...   (.cu, and .cpp that registers CUDA kernels), or leave CUDA REQUIRED out"
      )
    elseif(NOT "${arg_ARCHITECTURES}" STREQUAL "")
      _cudaops_stop(
        "${command}: ARCHITECTURES says what CUDA_SOURCES support, and there are none."
        FIX "CUDA_SOURCES <file>..., or leave ARCHITECTURES out"
      )
    endif()
  endif()
  if(arg_CUDA_CUBINS AND device STREQUAL "")
    _cudaops_stop("${command}: CUDA_CUBINS applies to .cu files, and CUDA_SOURCES holds none." FIX "leave CUDA_CUBINS out")
  endif()
  set(is_module FALSE)
  if(abi STREQUAL "PYBIND" OR NOT "${arg_PYTHON_MODULE}${arg_PYTHON_TARGET}" STREQUAL "")
    set(is_module TRUE)
    _cudaops_use(op/module)
    _cudaops_check_module("${command}" ${abi} "${arg_PYTHON_MODULE}" "${arg_PYTHON_TARGET}")
  endif()
  if(IS_ABSOLUTE "${arg_INSTALL}" OR "${arg_INSTALL}" MATCHES "\\$<|[][;]|(^|/)[.][.](/|$)")
    _cudaops_stop(
      "${command}: INSTALL is one directory, relative to the install prefix."
      FACTS "found   ${arg_INSTALL}"
      FIX "INSTALL lib, and -DCMAKE_INSTALL_PREFIX=<prefix>"
    )
  endif()
  if(arg_RECIPE)
    _cudaops_use(op/recipe)
    _cudaops_check_recipe("${command}" "${arg_INSTALL}")
  endif()
  set(in_package FALSE)
  if(NOT "${arg_PYTHON_PACKAGE}${arg_INSTALL}" STREQUAL "")
    set(in_package TRUE)
    _cudaops_use(op/package)
    _cudaops_check_package("${command}" "${arg_PYTHON_PACKAGE}" "${arg_INSTALL}" package install)
  endif()
  _cudaops_check_match("${command}")
  _cudaops_check_torch("${command}" ${abi} "${arg_TORCH_TARGET}" torch_target)
  if(is_module)
    _cudaops_check_python("${command}" "${arg_PYTHON_TARGET}")
  endif()
  if(abi STREQUAL "STABLE")
    _cudaops_check_stable_sources("${command}" ${host} ${cuda_host} ${device})
  endif()
  _cudaops_check_namespaces("${command}" ${host} ${cuda_host} ${device})
  _cudaops_check_boxed_types("${command}" ${host} ${cuda_host} ${device})

  _cudaops_op_state(
    state
    NEEDS_TORCH
    COMMAND "${command}"
    ABI ${abi}
    CUDA "${arg_CUDA}"
    HOST ${host}
    DEVICE ${device} ${cuda_host}
    ARCHITECTURES ${arg_ARCHITECTURES}
  )
  if(state_GPU STREQUAL "CUDA")
    # What is for HIP is not for CUDA.
    list(FILTER device EXCLUDE REGEX "\\.[hH][iI][pP]$")
  endif()
  set(type SHARED)
  if(arg_PYTHON_MODULE)
    set(type MODULE)
  endif()
  if(state_STATE STREQUAL "NOT_BUILT")
    _cudaops_op_not_built(${name} ${type} "${state_REASON_CODE}: ${state_REASON}")
  else()
    set(sources ${host})
    if(state_GPU)
      # Ninja begins with what stands first: what takes longest, so that it isn't alone in the end. A file in both lists
      # is compiled once.
      list(PREPEND sources ${device} ${cuda_host})
      list(REMOVE_DUPLICATES sources)
    endif()
    add_library(${name} ${type} ${sources})
    _cudaops_link_torch(${name} ${abi} "${torch_target}" "${state_GPU}")
    cudaops_target_defaults(${name})
    _cudaops_hide_paths(${name})
    set(archs "")
    if(device AND state_GPU)
      set(archs "${state_ARCHITECTURES}")
      cudaops_target_architectures(${name} ${archs})
      if(arg_CUDA_CUBINS)
        _cudaops_announce(cubins ${name} add_torch_op)
      endif()
    endif()
    _cudaops_link_headers(${name} ${name} "${archs}")
    if(state_GPU STREQUAL "CUDA")
      # One linker for ops with .cu files and for ops whose device code comes from kernels alone: the runtime and the
      # device link come with it.
      set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CUDA)
      _cudaops_debug_launches(${name})
    elseif(state_GPU STREQUAL "HIP")
      cudaops_target_hipify(${name})
      set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
    endif()
    _cudaops_link_whole(${name} ${abi})
    # An absolute path to this machine's torch in an installed library would break a later `import torch` of another one.
    set_target_properties(${name} PROPERTIES INSTALL_RPATH_USE_LINK_PATH OFF)
    set(extension "${name}")
    if(arg_PYTHON_MODULE)
      set(extension "${arg_PYTHON_MODULE}")
      _cudaops_op_module(${name} ${abi} "${arg_PYTHON_MODULE}" "${arg_PYTHON_TARGET}")
    endif()
    target_compile_definitions(${name} PRIVATE TORCH_EXTENSION_NAME=${extension})
    if(NOT device)
      set(state_ARCHITECTURES "")
    endif()
  endif()

  _cudaops_state_append(OPS ${name})
  _cudaops_target_set(${name} KIND OP)
  _cudaops_target_set(${name} ABI ${abi})
  _cudaops_target_set(${name} TORCH_TARGET "${torch_target}")
  _cudaops_target_set(${name} PYTHON_MODULE "${arg_PYTHON_MODULE}")
  _cudaops_target_set(${name} GPU "${state_GPU}")
  _cudaops_target_set(${name} PROJECT "${PROJECT_NAME}")
  foreach(key IN ITEMS STATE REASON_CODE REASON ARCHITECTURES)
    _cudaops_target_set(${name} ${key} "${state_${key}}")
  endforeach()
  _cudaops_target_set(${name} IMPORT_ROOTS 0)
  if(in_package)
    _cudaops_op_package(${name} "${package}" "${install}" "${arg_PYTHON_MODULE}")
  endif()
  if(arg_INSTALL)
    _cudaops_op_install(${name} "${arg_INSTALL}")
  endif()
  if(arg_RECIPE)
    set(lines "")
    foreach(list IN ITEMS SOURCES CUDA_SOURCES)
      string(REGEX REPLACE "S$" "" key "${list}")
      string(TOLOWER "${key}" key)
      foreach(source IN LISTS arg_${list})
        cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE path)
        if(NOT EXISTS "${path}")
          cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" NORMALIZE OUTPUT_VARIABLE path)
        endif()
        list(APPEND lines "${key}=${path}")
      endforeach()
    endforeach()
    foreach(arch IN LISTS arg_ARCHITECTURES)
      list(APPEND lines "architecture=${arch}")
    endforeach()
    _cudaops_op_recipe(${name} "${install}"
      "name=${name}" "project=${PROJECT_NAME}" "directory=${PROJECT_SOURCE_DIR}" "abi=${abi}" "cuda=${arg_CUDA}"
      "torch_target=${arg_TORCH_TARGET}" "cuda_cubins=${arg_CUDA_CUBINS}" "python_module=${arg_PYTHON_MODULE}"
      "python_target=${arg_PYTHON_TARGET}" ${lines}
    )
  endif()
  # At the end of this directory the target is complete: linked kernels, properties, standards.
  cmake_language(EVAL CODE "cmake_language(DEFER CALL _cudaops_op_finish [[${name}]])")
endfunction()
