# SPDX-License-Identifier: Apache-2.0
# An op as a Python module: importing it loads the library, and loading it registers its ops.

_cudaops_use(base/message base/state op/provenance)

# _cudaops_check_module(<command(target)> <abi> <module> <python target>)
function(_cudaops_check_module command abi module target)
  if(NOT target STREQUAL "")
    if(abi STREQUAL "PYBIND")
      _cudaops_stop(
        "${command}: PYTHON_TARGET belongs to ABI STABLE and FULL."
        FACTS "found   ABI PYBIND, PYTHON_TARGET ${target}" "rule    a PYBIND module is tied to the Python it was built with"
        FIX "leave PYTHON_TARGET out"
      )
    elseif(module STREQUAL "")
      _cudaops_stop(
        "${command}: PYTHON_TARGET is about a Python module, and PYTHON_MODULE is missing."
        FACTS "found   PYTHON_TARGET ${target}"
        FIX "PYTHON_MODULE <module>, or leave PYTHON_TARGET out"
      )
    elseif(NOT target MATCHES "^3\\.[0-9]+$" OR target VERSION_LESS 3.5)
      _cudaops_stop(
        "${command}: PYTHON_TARGET is not a version of Python."
        FACTS "found   ${target}" "wanted  3.<minor>, from 3.5 on"
        FIX "PYTHON_TARGET 3.10, or the like"
      )
    endif()
  endif()
  if(module STREQUAL "")
    if(abi STREQUAL "PYBIND")
      _cudaops_stop(
        "${command}: ABI PYBIND needs PYTHON_MODULE."
        FACTS "rule    pybind11's functions are reached by importing a module"
        FIX "PYTHON_MODULE <module>"
      )
    endif()
    return()
  endif()
  set(
    words
    "False|None|True|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield"
  )
  if(NOT module MATCHES "^[A-Za-z_][A-Za-z0-9_]*$" OR module MATCHES "^(${words})$")
    set(hint "")
    if(module MATCHES "^(.+)\\.([A-Za-z_][A-Za-z0-9_]*)$")
      string(REPLACE "." "/" directory "${CMAKE_MATCH_1}")
      set(hint "PYTHON_MODULE ${CMAKE_MATCH_2} INSTALL ${directory}   (a package is a directory)")
    else()
      set(hint "PYTHON_MODULE _C, or the like")
    endif()
    _cudaops_stop(
      "${command}: PYTHON_MODULE is not the name of a module."
      FACTS "found   ${module}" "wanted  what can stand after import: letters, digits and _, and no keyword of Python"
      FIX "${hint}"
    )
  endif()
endfunction()

# _cudaops_check_python(<command(target)> <python target>): after the match.
function(_cudaops_check_python command target)
  _cudaops_state_get(PYTHON_VERSION version)
  if(target AND version AND version VERSION_LESS target)
    _cudaops_state_get(PYTHON_EXECUTABLE python)
    _cudaops_stop(
      "${command}: PYTHON_TARGET is newer than the Python it is built with."
      FACTS "found   Python ${version} (${python})" "wanted  PYTHON_TARGET ${target}, whose functions these headers don't have"
      FIX "PYTHON_TARGET 3.9" "or a newer Python: -DPython_EXECUTABLE=<python>"
    )
  endif()
endfunction()

# _cudaops_op_module(<target> <abi> <module> <python target>): file name and, for STABLE and FULL, the function that
# Python calls.
function(_cudaops_op_module target abi module python_target)
  _cudaops_state_read(PYTHON_EXT_SUFFIX PYTHON_FREE_THREADED PYTHON_INCLUDE_DIR)
  set(suffix ".abi3.so")
  # A free-threaded Python has no abi3: it imports files of its own name only, made with its own headers.
  if(abi STREQUAL "PYBIND" OR PYTHON_FREE_THREADED)
    set(suffix "${PYTHON_EXT_SUFFIX}")
  endif()
  set_target_properties(
    ${target}
    PROPERTIES PREFIX "" SUFFIX "${suffix}" OUTPUT_NAME "${module}"
  )
  # Python looks for the module's own name in each configuration (CMAKE_DEBUG_POSTFIX).
  foreach(config IN LISTS CMAKE_BUILD_TYPE CMAKE_CONFIGURATION_TYPES)
    string(TOUPPER "${config}" config)
    set_property(TARGET ${target} PROPERTY ${config}_POSTFIX "")
  endforeach()
  if(EXISTS "${PYTHON_INCLUDE_DIR}/Python.h")
    target_include_directories(${target} PRIVATE "${PYTHON_INCLUDE_DIR}")
  endif()
  if(abi STREQUAL "PYBIND")
    return()
  endif()
  if(NOT PYTHON_FREE_THREADED)
    # What abi3 in the name promises, for sources that use Python's API themselves. Not Py_LIMITED_API itself: the author
    # may define it, in any way and also in a source. At the end of the directory, to be the first Python.h.
    if(python_target STREQUAL "")
      set(python_target 3.9)
    endif()
    string(REGEX REPLACE "^3\\." "" minor "${python_target}")
    math(EXPR number "0x03000000 + ${minor} * 0x10000" OUTPUT_FORMAT HEXADECIMAL)
    string(REGEX REPLACE "^0x" "0x0" number "${number}")
    target_compile_definitions(${target} PRIVATE CUDAOPS_PY_LIMITED_API=${number})
    cmake_path(SET directory NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../include/cudaops/detail/limited_api")
    cmake_language(
      EVAL CODE "cmake_language(DEFER CALL target_include_directories ${target} BEFORE PRIVATE [==[${directory}]==])"
    )
  endif()

  if(PYTHON_FREE_THREADED)
    set(python "#include <Python.h>\n")
  else()
    # The parts of Python's limited API that an empty module needs, whose layout is fixed from 3.2 on: Python's headers
    # needn't be installed. Weak, so that linking with --no-undefined doesn't ask for libpython.
    set(
      python
      "#include <cstddef>
struct PyObject;
struct PyModuleDef {
  std::ptrdiff_t ob_refcnt;
  void* ob_type;
  PyObject* (*m_init)();
  std::ptrdiff_t m_index;
  PyObject* m_copy;
  const char* m_name;
  const char* m_doc;
  std::ptrdiff_t m_size;
  void* m_methods;
  void* m_slots;
  void* m_traverse;
  void* m_clear;
  void* m_free;
};
extern \"C\" __attribute__((weak)) PyObject* PyModuleDef_Init(PyModuleDef*);
"
    )
  endif()
  set(source "${CMAKE_CURRENT_BINARY_DIR}/CudaOps/${target}_module.cpp")
  file(
    CONFIGURE
    OUTPUT "${source}"
    CONTENT
      "// Written by CudaOps: what `import @module@` calls. Weak: a source that brings its own wins.
@python@
static PyModuleDef definition = {
#ifdef Py_PYTHON_H
    PyModuleDef_HEAD_INIT,
#else
    1, nullptr, nullptr, 0, nullptr,
#endif
    \"@module@\", nullptr, 0, nullptr, nullptr, nullptr, nullptr, nullptr};
extern \"C\" __attribute__((weak, visibility(\"default\"))) PyObject* PyInit_@module@() {
  return PyModuleDef_Init(&definition);
}
"
    @ONLY
  )
  _cudaops_own_source(${target} "${source}")
endfunction()
