# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
CudaOpsTesting
--------------

Validates kernels and ops: GoogleTest and Google Benchmark for kernels, Python for ops. Each command adds targets and
tests; call ``enable_testing()`` or ``include(CTest)`` in the top-level ``CMakeLists.txt``. With ``BUILD_TESTING`` off
they do nothing.

.. command:: cudaops_add_gtest

  .. code-block:: cmake

    cudaops_add_gtest(<name> SOURCES <file>... [LINK_LIBRARIES <target>...])

  Builds an executable with GoogleTest's ``main()``, :file:`cudaops/testing.h` and, where CUDA is on, the CUDA runtime
  and ``CUDAOPS_WITH_CUDA=1``. Each of its tests is a CTest test, ``<name>.<Suite>.<Test>``. Tests whose name contains
  ``Gpu`` or ``GPU`` have the label ``gpu``; without a GPU they are skipped.

.. command:: cudaops_add_benchmark

  .. code-block:: cmake

    cudaops_add_benchmark(<name> SOURCES <file>... [LINK_LIBRARIES <target>...])

  The same with Google Benchmark and :file:`cudaops/benchmark.h`. The test ``<name>`` (labels ``benchmark`` and
  ``gpu``) runs it once, to compare its results with the reference; run the executable yourself for figures. The targets
  ``<name>.ncu`` and ``<name>.nsys`` run it under profilers, see :module:`CudaOpsDebug`.

.. command:: cudaops_add_python_test

  .. code-block:: cmake

    cudaops_add_python_test(<name> OP <op>... SCRIPT <file> [PYTEST] [ARGS <arg>...])

  Runs ``SCRIPT`` with the Python that goes with torch. ``OP`` takes ops and SHARED kernels. Each one's library is in the
  environment as ``CUDAOPS_<OP>_LIBRARY`` (upper case, other characters as ``_``), modules and the packages that they
  belong to in the build tree (``INSTALL``, ``PYTHON_PACKAGE``) are on ``PYTHONPATH``. Exit code 77 means skipped.
  ``PYTEST`` runs it with pytest. Where an op is NOT_BUILT the test is skipped with the reason.

With ``CUDAOPS_SANITIZER`` each gtest program, and each Python test without the word ``cpu`` in its name
(``my_ops_test.cpu``), also has tests ``<name>.<tool>``, see :module:`CudaOpsDebug`.

``ctest`` says of a skipped test that it was skipped; ``ctest -V -R <name>`` prints the reason.

GoogleTest and Google Benchmark are found by ``find_package`` (Debian's libgtest-dev and libbenchmark-dev, vcpkg,
Conan); ``CUDAOPS_PROVIDE=GTEST;BENCHMARK`` brings them by CMake's FetchContent.

Example:

.. code-block:: cmake

  include(CTest)
  cudaops_add_kernels(my_kernels SOURCES scale.cu scale_cpu.cpp)
  cudaops_add_gtest(my_kernels_test SOURCES scale_test.cpp LINK_LIBRARIES my_kernels)
  cudaops_add_benchmark(my_kernels_benchmark SOURCES scale_benchmark.cpp LINK_LIBRARIES my_kernels)
  cudaops_add_python_test(my_ops_test OP my_ops SCRIPT test_my_ops.py)
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
_cudaops_use(CudaOpsArchitectures CudaOpsTargets HipifySources base/message base/options base/programs base/state op/arguments op/debug op/finish op/profile op/sanitizer)

function(cudaops_add_gtest)
  list(APPEND CMAKE_MESSAGE_CONTEXT "CudaOps.cudaops_add_gtest")
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK_LIBRARIES")
  _cudaops_first_argument(name ${ARGC} "${ARGV0}")
  _cudaops_check_executable(cudaops_add_gtest "${name}" "${ARGV}" sources enabled)
  if(NOT enabled)
    return()
  endif()
  _cudaops_find_gtest("cudaops_add_gtest(${name})")
  _cudaops_test_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE ${arg_LINK_LIBRARIES} GTest::gtest_main GTest::gtest)

  include(GoogleTest)
  # Before the tests run, not after the build: a program that can't start must not fail the build of the op.
  set(GPU_filter "*Gpu*:*GPU*")
  set(GPU_properties PROPERTIES LABELS gpu)
  set(CPU_filter "-*Gpu*:*GPU*")
  set(CPU_properties "")
  foreach(kind IN ITEMS GPU CPU)
    gtest_discover_tests(
      ${name}
      TEST_PREFIX "${name}."
      TEST_FILTER "${${kind}_filter}"
      NO_PRETTY_TYPES
      DISCOVERY_MODE PRE_TEST
      DISCOVERY_TIMEOUT 60
      TEST_LIST ${name}_${kind}_TESTS
      ${${kind}_properties}
    )
  endforeach()
  _cudaops_sanitizer_tests(${name} "" $<TARGET_FILE:${name}> "--gtest_filter=*Gpu*:*GPU*")
endfunction()

function(cudaops_add_benchmark)
  list(APPEND CMAKE_MESSAGE_CONTEXT "CudaOps.cudaops_add_benchmark")
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK_LIBRARIES")
  _cudaops_first_argument(name ${ARGC} "${ARGV0}")
  _cudaops_check_executable(cudaops_add_benchmark "${name}" "${ARGV}" sources enabled)
  if(NOT enabled)
    return()
  endif()
  _cudaops_find_benchmark("cudaops_add_benchmark(${name})")
  _cudaops_test_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE ${arg_LINK_LIBRARIES} benchmark::benchmark)
  add_test(NAME ${name} COMMAND ${name})
  # One short round is enough for the comparison with the reference; the figures of a shared machine mean little.
  set_tests_properties(
    ${name}
    PROPERTIES LABELS "benchmark;gpu" SKIP_REGULAR_EXPRESSION "(^|\n)SKIPPED: " ENVIRONMENT "CUDAOPS_BENCHMARK_ONCE=1"
  )
  _cudaops_profile_targets(${name})
endfunction()

function(cudaops_add_python_test)
  list(APPEND CMAKE_MESSAGE_CONTEXT "CudaOps.cudaops_add_python_test")
  cmake_parse_arguments(PARSE_ARGV 1 arg "PYTEST" "SCRIPT" "OP;ARGS")
  _cudaops_first_argument(name ${ARGC} "${ARGV0}")
  set(keywords OP SCRIPT PYTEST ARGS)
  set(usage "cudaops_add_python_test(<name> OP <op>... SCRIPT <file> [PYTEST] [ARGS <arg>...])")
  if(name STREQUAL "" OR name IN_LIST keywords)
    _cudaops_stop("cudaops_add_python_test(): the first argument is the name of the test." FACTS "found   '${name}'" FIX "${usage}")
  endif()
  set(command "cudaops_add_python_test(${name})")
  if(name MATCHES "[][;<>$\"\\]")
    _cudaops_stop(
      "${command}: not a name for a test."
      FACTS "found   '${name}'" "wanted  no brackets, quotes, backslashes, semicolons or generator expressions"
      FIX "${usage}"
    )
  endif()
  if(TEST "${name}")
    _cudaops_stop("${command}: there is a test of this name already." FIX "another name")
  endif()
  _cudaops_check_keywords("${command}" "${ARGV}" SINGLES SCRIPT LISTS OP ARGS MAY_BE_EMPTY ARGS OPTIONS PYTEST REQUIRED OP SCRIPT USAGE "${usage}")
  cmake_path(ABSOLUTE_PATH arg_SCRIPT NORMALIZE OUTPUT_VARIABLE script)
  if(IS_DIRECTORY "${script}")
    _cudaops_stop(
      "${command}: SCRIPT is a file, and this is a directory."
      FACTS "found   ${script}"
      FIX "SCRIPT ${arg_SCRIPT}/<file>.py"
    )
  elseif(NOT EXISTS "${script}")
    # Generated: where CMake's own commands would put it.
    get_source_file_property(generated "${arg_SCRIPT}" GENERATED)
    cmake_path(ABSOLUTE_PATH arg_SCRIPT BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" NORMALIZE OUTPUT_VARIABLE built)
    if(NOT generated AND NOT EXISTS "${built}")
      _cudaops_use(op/explain)
      _cudaops_source_missing("${command}" SCRIPT "${keywords}" "${arg_SCRIPT}" "${script}")
    endif()
    set(script "${built}")
  endif()
  set(environment "")
  set(libraries "")
  set(reason "")
  foreach(op IN LISTS arg_OP)
    set(kind "")
    set(type "")
    if(TARGET "${op}")
      _cudaops_target_get(${op} KIND kind)
      get_target_property(type ${op} TYPE)
    endif()
    if(NOT kind STREQUAL "OP" AND NOT (kind STREQUAL "KERNELS" AND type STREQUAL "SHARED_LIBRARY"))
      _cudaops_state_get(OPS ops)
      _cudaops_use(base/closest)
      # A keyword that is misspelt ends the list of ops; OP itself began it.
      set(others "${keywords}")
      list(REMOVE_ITEM others OP)
      _cudaops_closest("${op}" "${ops};${others}" suggestion)
      set(hint "")
      if(suggestion)
        set(hint "nearest ${suggestion}")
      endif()
      _cudaops_stop(
        "${command}: OP names no op."
        FACTS "found   ${op}" "wanted  an add_torch_op(), or SHARED kernels, made before this call" "${hint}"
        FIX "${usage}"
      )
    endif()
    _cudaops_target_get(${op} STATE state)
    if(state STREQUAL "NOT_BUILT")
      _cudaops_target_get(${op} REASON_CODE code)
      _cudaops_target_get(${op} REASON why)
      set(reason "${op} is NOT_BUILT (${code}: ${why})")
      continue()
    endif()
    _cudaops_target_get(${op} GPU gpu)
    _cudaops_target_get(${op} REASON_CODE code)
    if(gpu STREQUAL "HIP" AND code MATCHES "_TORCH$")
      _cudaops_target_get(${op} REASON why)
      set(reason "${op}: ${why}")
    endif()
    string(TOUPPER "${op}" upper)
    string(REGEX REPLACE "[^A-Z0-9_]" "_" upper "${upper}")
    list(APPEND environment "CUDAOPS_${upper}_LIBRARY=set:$<TARGET_FILE:${op}>")
    list(APPEND libraries "$<TARGET_FILE:${op}>")
    _cudaops_target_get(${op} PYTHON_MODULE module)
    _cudaops_target_get(${op} PACKAGE package)
    if(module OR package)
      _cudaops_use(op/package)
      _cudaops_op_import_roots(${op} roots)
      # What is prepended last stands first.
      list(REVERSE roots)
      list(TRANSFORM roots PREPEND "PYTHONPATH=path_list_prepend:")
      list(APPEND environment ${roots})
    endif()
  endforeach()
  if(DEFINED BUILD_TESTING AND NOT BUILD_TESTING)
    return()
  endif()

  if(reason)
    add_test(NAME ${name} COMMAND "${CMAKE_COMMAND}" -E echo "SKIPPED: ${reason}")
    set_tests_properties(${name} PROPERTIES LABELS python SKIP_REGULAR_EXPRESSION "^SKIPPED: ")
    return()
  endif()
  _cudaops_state_get(PYTHON_EXECUTABLE python)
  _cudaops_other_machine(machine)
  if(python STREQUAL "" OR machine)
    _cudaops_state_get(TORCH_SOURCE source)
    set(fix "-DPython_EXECUTABLE=<python>   (one that has torch)")
    if(machine)
      set(fix "-DBUILD_TESTING=OFF   (a torch for ${machine} runs there)")
    endif()
    _cudaops_stop("${command}: there is no Python that can run this torch." FACTS "found   torch at ${source}" FIX ${fix})
  endif()
  set(runner "${python}")
  if(arg_PYTEST)
    _cudaops_python_package(package)
    list(APPEND runner "${package}/_run_pytest.py" -p no:cacheprovider)
  endif()
  add_test(NAME ${name} COMMAND ${runner} "${script}" ${arg_ARGS})
  set_tests_properties(
    ${name}
    PROPERTIES
      LABELS python
      SKIP_RETURN_CODE 77
      # Nothing is written beside a script that may lie in a read-only source tree.
      ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1"
      ENVIRONMENT_MODIFICATION "${environment}"
  )
  if(NOT name MATCHES "(^|[^A-Za-z0-9])[Cc][Pp][Uu]($|[^A-Za-z0-9])")
    _cudaops_sanitizer_tests(${name} "${libraries}" ${runner} "${script}" ${arg_ARGS})
  endif()
endfunction()

# _cudaops_check_executable(<command> <name> <argv> <out-sources> <out-enabled>)
#
# What the two commands that make programs check. Reads the arg_ variables of its caller.
function(
  _cudaops_check_executable
  function
  name
  argv
  out_sources
  out_enabled
)
  set(keywords SOURCES LINK_LIBRARIES)
  set(usage "${function}(<name> SOURCES <file>... [LINK_LIBRARIES <target>...])")
  _cudaops_check_name(${function} "${name}" KEYWORDS ${keywords} USAGE "${usage}")
  set(command "${function}(${name})")
  _cudaops_check_keywords("${command}" "${argv}" LISTS ${keywords} MAY_BE_EMPTY LINK_LIBRARIES REQUIRED SOURCES USAGE "${usage}")
  _cudaops_check_sources("${command}" SOURCES "${keywords}" host device ${arg_SOURCES})
  _cudaops_check_any_code("${command}" "SOURCES holds" ${host} ${device})
  _cudaops_check_match("${command}")
  _cudaops_state_get(BACKEND backend)
  if(NOT backend STREQUAL "CPU")
    list(APPEND host ${device})
  endif()
  if(host STREQUAL "")
    _cudaops_stop(
      "${command}: without CUDA nothing is left of SOURCES."
      FACTS "found   ${device}"
      FIX "put main parts into a .cpp, and the .cu into cudaops_add_kernels()"
    )
  endif()
  set(${out_sources} "${host}" PARENT_SCOPE)
  set(${out_enabled} TRUE PARENT_SCOPE)
  if(DEFINED BUILD_TESTING AND NOT BUILD_TESTING)
    set(${out_enabled} FALSE PARENT_SCOPE)
  endif()
endfunction()

# _cudaops_test_executable(<name> <source>...)
function(_cudaops_test_executable name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "")
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_compile_features(${name} PRIVATE cxx_std_17)
  cudaops_target_defaults(${name})
  _cudaops_link_headers(${name} ${name} "")
  _cudaops_state_get(BACKEND backend)
  if(NOT backend STREQUAL "CPU")
    target_compile_definitions(${name} PRIVATE CUDAOPS_WITH_CUDA=1)
    _cudaops_link_toolkit(${name})
    string(TOLOWER "${backend}" language)
    target_compile_features(${name} PRIVATE ${language}_std_17)
    _cudaops_state_get(ARCHITECTURES archs)
    cudaops_target_architectures(${name} ${archs})
  endif()
  if(backend STREQUAL "CUDA")
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CUDA)
    _cudaops_debug_launches(${name})
  elseif(backend STREQUAL "HIP")
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
    cudaops_target_hipify(${name})
  endif()
  cmake_language(EVAL CODE "cmake_language(DEFER CALL _cudaops_finish_device_link [[${name}]])")
endfunction()

function(_cudaops_find_gtest command)
  _cudaops_find_or_fetch(
    GTest
    GTest::gtest_main
    "${command}: GoogleTest was not found."
    "find_package(GTest): GTestConfig.cmake, libgtest"
    libgtest-dev
    gtest
    googletest
    "https://github.com/google/googletest/releases/download/v1.17.0/googletest-1.17.0.tar.gz"
  )
  foreach(target IN ITEMS gtest gtest_main)
    if(TARGET ${target} AND NOT TARGET GTest::${target})
      add_library(GTest::${target} ALIAS ${target})
    endif()
  endforeach()
endfunction()

function(_cudaops_find_benchmark command)
  set(BENCHMARK_ENABLE_TESTING OFF)
  set(BENCHMARK_ENABLE_INSTALL OFF)
  _cudaops_find_or_fetch(
    benchmark
    benchmark::benchmark
    "${command}: Google Benchmark was not found."
    "find_package(benchmark): benchmarkConfig.cmake"
    libbenchmark-dev
    benchmark
    googlebenchmark
    "https://github.com/google/benchmark/archive/refs/tags/v1.9.4.tar.gz"
  )
endfunction()

# _cudaops_find_or_fetch(<package> <target> <error> <looked> <Debian's name> <others' name> <name> <url>)
#
# By find_package(), whose imported targets are known to the whole directory, though it is called in a function; or, on
# request, by FetchContent: FETCHCONTENT_SOURCE_DIR_<NAME> and a dependency provider work as they do for each.
function(
  _cudaops_find_or_fetch
  package
  target
  error
  looked
  debian
  others
  name
  url
)
  if(NOT TARGET ${target})
    find_package(${package} QUIET)
  endif()
  if(TARGET ${target})
    return()
  endif()
  string(TOUPPER ${package} upper)
  _cudaops_option(CUDAOPS_PROVIDE provide)
  if(NOT upper IN_LIST provide)
    _cudaops_stop(
      "${error}"
      FACTS "looked  ${looked}"
      FIX "apt-get install ${debian}   (or vcpkg, conan, conda: ${others})" "or -DCUDAOPS_PROVIDE=${upper}   (CMake fetches it)"
    )
  endif()
  include(FetchContent)
  set(INSTALL_GTEST OFF)
  set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)
  set(CMAKE_POLICY_DEFAULT_CMP0135 NEW)
  FetchContent_Declare(${name} URL "${url}" EXCLUDE_FROM_ALL)
  FetchContent_MakeAvailable(${name})
endfunction()
