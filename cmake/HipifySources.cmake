# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
HipifySources
-------------

Translates CUDA sources to HIP at build time, file by file, into the build directory.

.. command:: hipify_sources

  Translates sources and the project headers that they include.

  .. code-block:: cmake

    hipify_sources(<out-var> SOURCES <file>... [INCLUDE_DIRECTORIES <dir>...] [OUTPUT_DIRECTORY <dir>])

  ``<out-var>``
    Set to the paths of the translations, in the order of SOURCES; for a source with ``CUDAOPS_SKIP_HIPIFY`` its own
    path. ``<out-var>_INCLUDE_DIRECTORIES`` is set to the mirrors of the include directories; add them before the
    originals.
  ``SOURCES``
    ``.cu``, ``.hip``, ``.c``, ``.cc``, ``.cpp``, ``.cxx``. A file with nothing to translate has a translation too.
    Headers are translated when they are included; a header that is listed here is ignored.
  ``INCLUDE_DIRECTORIES``
    Where the sources find their headers. Headers of the project are translated; others are used as they are. Generator
    expressions are evaluated by CMake.
  ``OUTPUT_DIRECTORY``
    The mirror tree; default ``${CMAKE_CURRENT_BINARY_DIR}/<out-var>.hipified``.

.. command:: cudaops_target_hipify

  Makes a target compile the translations of its sources.

  .. code-block:: cmake

    cudaops_target_hipify(<target>)

  At the end of the directory every source of the target is replaced by its translation below
  ``${CMAKE_CURRENT_BINARY_DIR}/<target>.hipified``, and the mirrors of its include directories, and of those of the
  targets that it links, come first for these sources. Include directories and definitions are what CMake makes of them
  for the language and the configuration, generator expressions and libraries behind libraries included; what the target
  is given after the end of its directory is not seen. :command:`add_torch_op`, :command:`cudaops_add_kernels` and
  :command:`cudaops_add_gtest` call it where the backend is HIP.

A translation keeps its name and its place: ``src/a/k.cu`` becomes ``<mirror>/src/a/k.cu``, relative to the root that
contains it. Roots are the project's source directory, its build directories (``<mirror>/.generated``), include directories
of the target itself that hold a source, and the directory above the project, in the same checkout and up to three steps
away, that holds one (``<mirror>/.elsewhere<n>``). Headers below SYSTEM include
directories, and those of imported and fetched targets, are not translated. Source properties that are set before the end of the directory apply
to the translation, too. Translated ``.cu`` and ``.hip`` files have ``LANGUAGE HIP``: enable it, or
find_package(CudaTorchMatch) does. An explicit ``LANGUAGE`` wins, on the source (where ``CUDA`` means ``HIP``) before or
after the call, or on the translation after :command:`hipify_sources`; use it where hipcc is the C++ compiler.

``CUDAOPS_SKIP_HIPIFY`` (property of a target or of a source)
  ``ON`` leaves code unchanged that has its own branches for HIP: on a target, all of its sources; on a source, that one,
  which then includes the untranslated headers; on a header, where the header is listed among the sources. Such code is
  compiled in the same language as a translation. For :command:`hipify_sources` set it before the call. It has no effect
  for other backends.

Comments and strings are not changed: a string may be the name of an op. Kernel launches stay ``<<<...>>>``. A condition
on ``__CUDA_ARCH__``, which HIP's compiler doesn't define, is a warning at build time.

The translator is torch/utils/hipify, loaded without importing torch, of the torch that find_package(CudaTorchMatch) has
found or would find; without torch, hipify-perl on ``PATH``, in ``ROCM_PATH`` or in ``/opt/rocm*``.

``CUDAOPS_HIPIFY`` (variable, or environment variable of the same name)
  Another translator: the path of hipify-perl, or of the Python, the site-packages or the directory of a torch 2.9 or
  later.

Example:

.. code-block:: cmake

  find_package(CudaOps 0.1 REQUIRED)
  enable_language(HIP)
  hipify_sources(translated SOURCES scan.cu host.cpp INCLUDE_DIRECTORIES include)
  add_library(scan ${translated})
  target_include_directories(scan PRIVATE ${translated_INCLUDE_DIRECTORIES} include)

A target of your own:

.. code-block:: cmake

  add_library(sorting SHARED sorting.cu)
  cudaops_target_hipify(sorting)

With ``CXX=hipcc`` and without CMake's language HIP; ``-x hip`` has to follow CMake's own ``-x c++``:

.. code-block:: cmake

  hipify_sources(translated SOURCES scan.cu)
  set_source_files_properties(${translated} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-x;hip")
  add_library(scan ${translated})

An op with ``#ifdef USE_ROCM`` in all of its sources, and an op with one such file:

.. code-block:: cmake

  set_target_properties(attention PROPERTIES CUDAOPS_SKIP_HIPIFY ON)
  set_source_files_properties(reduce.cu PROPERTIES CUDAOPS_SKIP_HIPIFY ON)
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

function(hipify_sources)
  list(APPEND CMAKE_MESSAGE_CONTEXT "CudaOps.hipify_sources")
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "OUTPUT_DIRECTORY" "SOURCES;INCLUDE_DIRECTORIES")
  _cudaops_first_argument(name ${ARGC} "${ARGV0}")
  set(keywords SOURCES INCLUDE_DIRECTORIES OUTPUT_DIRECTORY)
  set(usage "hipify_sources(<out-var> SOURCES <file>..." "  [INCLUDE_DIRECTORIES <dir>...] [OUTPUT_DIRECTORY <dir>])")
  set(command "hipify_sources(${name})")
  _cudaops_check_variable(hipify_sources "${name}" KEYWORDS ${keywords} USAGE ${usage})
  _cudaops_check_keywords("${command}" "${ARGV}" SINGLES OUTPUT_DIRECTORY LISTS SOURCES INCLUDE_DIRECTORIES MAY_BE_EMPTY INCLUDE_DIRECTORIES REQUIRED SOURCES USAGE ${usage})
  foreach(source IN LISTS arg_SOURCES)
    if(source MATCHES "\\$<")
      _cudaops_stop(
        "${command}: SOURCES takes no generator expressions."
        FACTS "found   ${source}" "wanted  the name of a file: which file it is must be known at configure"
        FIX "if() around the call, or list(APPEND <sources> <file>)"
      )
    endif()
  endforeach()
  foreach(directory IN LISTS arg_OUTPUT_DIRECTORY)
    if(arg_OUTPUT_DIRECTORY MATCHES "[][;]|\\$<" OR (EXISTS "${directory}" AND NOT IS_DIRECTORY "${directory}"))
      _cudaops_stop(
        "${command}: OUTPUT_DIRECTORY is one directory, known at configure, without brackets."
        FACTS "found   ${arg_OUTPUT_DIRECTORY}"
        FIX "a directory of its own in the build tree, or leave it out"
      )
    endif()
  endforeach()
  _cudaops_use(hipify/hipify hipify/places hipify/sources hipify/translator)
  _cudaops_check_sources("${command}" SOURCES "${keywords}" host device ${arg_SOURCES})
  _cudaops_check_any_code("${command}" "SOURCES holds" ${host} ${device})

  set(mirror "${CMAKE_CURRENT_BINARY_DIR}/${name}.hipified")
  if(arg_OUTPUT_DIRECTORY)
    cmake_path(
      ABSOLUTE_PATH arg_OUTPUT_DIRECTORY
      BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}"
      NORMALIZE
      OUTPUT_VARIABLE mirror
    )
    string(REGEX REPLACE "(.)/$" "\\1" mirror "${mirror}")
    _cudaops_hipify_below("${PROJECT_SOURCE_DIR}" above "${mirror}")
    if(above)
      _cudaops_stop(
        "${command}: OUTPUT_DIRECTORY contains the sources."
        FACTS "found   ${mirror}" "sources ${PROJECT_SOURCE_DIR}"
        FIX "a directory of its own in the build tree"
      )
    endif()
  endif()
  _cudaops_hipify_absolute(includes ${arg_INCLUDE_DIRECTORIES})
  set(sources "")
  set(paths "")
  set(translated "")
  set(skipped "")
  foreach(source IN LISTS arg_SOURCES)
    _cudaops_hipify_is_source("${source}" is_source)
    _cudaops_hipify_path("${source}" path)
    _cudaops_hipify_skip("${source}" skip)
    if(skip)
      list(APPEND skipped "${path}")
    endif()
    if(is_source AND NOT path IN_LIST paths)
      list(APPEND sources "${source}")
      list(APPEND paths "${path}")
      if(NOT skip)
        list(APPEND translated "${source}")
      endif()
    endif()
  endforeach()
  if(translated)
    _cudaops_hipify_translator("${command}")
  endif()
  _cudaops_hipify_places(place "${mirror}" SOURCES ${paths} INCLUDES ${includes} OUTSIDE ${skipped})
  set(outputs "")
  foreach(source path IN ZIP_LISTS sources paths)
    if(path IN_LIST skipped)
      list(APPEND outputs "${path}")
      continue()
    endif()
    _cudaops_hipify_mirror_of(place "${path}" output)
    if(output STREQUAL "")
      _cudaops_hipify_no_root("${command}" "${path}" "INCLUDE_DIRECTORIES <directory above it>" ${place_ROOTS})
    endif()
    _cudaops_hipify_language("${source}" "${output}")
    list(APPEND outputs "${output}")
  endforeach()
  _cudaops_hipify_mirrors(place mirrors ${includes})
  _cudaops_state_get(HIPIFY_MIRRORS known)
  if(NOT mirror IN_LIST known)
    _cudaops_state_append(HIPIFY_MIRRORS "${mirror}")
  endif()
  cmake_language(
    EVAL CODE
      "cmake_language(DEFER CALL _cudaops_hipify_finish [==[${command}]==] [==[${mirror}]==] [==[${translated}]==] [==[${includes}]==] [==[${skipped}]==])"
  )
  set(${name} "${outputs}" PARENT_SCOPE)
  set(${name}_INCLUDE_DIRECTORIES "${mirrors}" PARENT_SCOPE)
endfunction()

function(cudaops_target_hipify)
  list(APPEND CMAKE_MESSAGE_CONTEXT "CudaOps.cudaops_target_hipify")
  _cudaops_check_one_target(cudaops_target_hipify target ${ARGC} "${ARGV}")
  get_target_property(place ${target} SOURCE_DIR)
  if(NOT place STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    _cudaops_stop(
      "cudaops_target_hipify(${target}): the target was made in another directory, and its commands belong there."
      FACTS "found   ${place}" "here    ${CMAKE_CURRENT_SOURCE_DIR}"
      FIX "call it in ${place}/CMakeLists.txt"
    )
  endif()
  # Once: the second time the sources are the translations.
  get_property(known TARGET ${target} PROPERTY _CUDAOPS_HIPIFY)
  if(NOT known)
    set_property(TARGET ${target} PROPERTY _CUDAOPS_HIPIFY ON)
    _cudaops_use(hipify/hipify)
    cmake_language(EVAL CODE "cmake_language(DEFER CALL _cudaops_hipify_target [==[${target}]==])")
  endif()
endfunction()
