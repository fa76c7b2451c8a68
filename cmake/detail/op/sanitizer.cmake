# SPDX-License-Identifier: Apache-2.0
# The tests <test>.<tool> of CUDAOPS_SANITIZER, which run a test under compute-sanitizer (cudaops/nvidia_tools/sanitize.py).

_cudaops_use(base/options base/programs base/state)

# _cudaops_sanitizer_tests(<test> <libraries> <command>...)
#
# Checked are the kernels of <libraries>, or all where there are none. Properties of the test <test>, which its author may
# still set, are taken over at the end of the directory.
function(_cudaops_sanitizer_tests test libraries)
  _cudaops_option(CUDAOPS_SANITIZER tools)
  if(tools STREQUAL "")
    return()
  endif()
  list(REMOVE_DUPLICATES tools)
  _cudaops_state_get(BACKEND backend)
  _cudaops_state_get(TOOLKIT_ROOT toolkit)
  _cudaops_python_tool(python)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "")
  set(only "")
  foreach(library IN LISTS libraries)
    list(APPEND only --library "${library}")
  endforeach()
  foreach(tool IN LISTS tools)
    if(NOT backend STREQUAL "CUDA")
      set(command "${CMAKE_COMMAND}" -E echo "SKIPPED: compute-sanitizer is for CUDA, and the backend is ${backend}")
    elseif(python STREQUAL "")
      set(command "${CMAKE_COMMAND}" -E echo "SKIPPED: ${test}.${tool} needs a Python: -DPython_EXECUTABLE=<python>")
    else()
      _cudaops_python_command(command "${python}" nvidia_tools.sanitize)
      list(
        APPEND command
        --tool
        ${tool}
        --toolkit
        "${toolkit}"
        ${only}
        --
        ${arg_UNPARSED_ARGUMENTS}
      )
    endif()
    add_test(NAME ${test}.${tool} COMMAND ${command})
    set_tests_properties(
      ${test}.${tool}
      PROPERTIES LABELS "sanitizer;gpu" SKIP_RETURN_CODE 77 SKIP_REGULAR_EXPRESSION "^SKIPPED: "
    )
  endforeach()
  cmake_language(EVAL CODE "cmake_language(DEFER CALL _cudaops_sanitizer_finish [[${test}]] [[${tools}]])")
endfunction()

# _cudaops_sanitizer_finish(<test> <tools>): environment of the test itself, and 20 times its time.
function(_cudaops_sanitizer_finish test tools)
  set(limit "")
  if(TEST ${test})
    get_test_property(${test} TIMEOUT limit)
  endif()
  if(NOT limit)
    # CTest's own.
    set(limit 1500)
    if(DART_TESTING_TIMEOUT)
      set(limit ${DART_TESTING_TIMEOUT})
    endif()
  endif()
  math(EXPR limit "20 * ${limit}")
  foreach(tool IN LISTS tools)
    set_tests_properties(${test}.${tool} PROPERTIES TIMEOUT ${limit})
    foreach(
      property
      IN
      ITEMS ENVIRONMENT ENVIRONMENT_MODIFICATION WORKING_DIRECTORY FIXTURES_REQUIRED RESOURCE_LOCK
    )
      if(TEST ${test})
        get_test_property(${test} ${property} value)
        if(value)
          set_property(TEST ${test}.${tool} PROPERTY ${property} "${value}")
        endif()
      endif()
    endforeach()
  endforeach()
endfunction()
