include("${CMAKE_CURRENT_LIST_DIR}/../Versions/common/check.cmake")
_cudaops_use(facts/host_compiler)

file(READ "${header}" text)
_cudaops_host_config_bounds("${text}" b)
message(STATUS "${header}: ${b_BOUNDS}")
check_match("a released header has all bounds" "${b_BOUNDS}" "^GNU_MAX;[0-9.]+;CLANG_MIN;[0-9.]+;CLANG_MAX;[0-9.]+")

# takes(<out-var> <define>...): whether the header accepts a compiler with these macros.
function(takes out)
  execute_process(
    COMMAND "${cxx}" -x c++ -E -w -U__clang__ -D__CUDACC__ ${ARGN} "${header}"
    RESULT_VARIABLE result
    OUTPUT_QUIET
    ERROR_VARIABLE error
  )
  set(${out} TRUE PARENT_SCOPE)
  if(error MATCHES "unsupported (GNU|clang) version")
    set(${out} FALSE PARENT_SCOPE)
  elseif(NOT result EQUAL 0)
    message(SEND_ERROR "${cxx} ${ARGN}: ${error}")
  endif()
endfunction()

foreach(
  major
  IN
  ITEMS 4 9 10 11 12 13 14 15 16 17 18
)
  takes(expected -U__GNUC__ -D__GNUC__=${major})
  _cudaops_host_compiler_fits(fits ID GNU VERSION ${major}.2.1 ${b_BOUNDS})
  check_equal("gcc ${major}" "${fits}" "${expected}")
endforeach()
foreach(
  version
  IN
  ITEMS 2.9 3.2 3.3 3.9 7.0 13.0 14.0 15.0 16.0 17.0 18.1 19.1 20.1 21.1 22.1 23.0 24.0
)
  string(REPLACE "." ";" numbers "${version}")
  list(POP_FRONT numbers major minor)
  takes(expected -U__GNUC__ -D__GNUC__=4 -D__clang__=1 -D__clang_major__=${major} -D__clang_minor__=${minor})
  _cudaops_host_compiler_fits(fits ID Clang VERSION ${version}.7 ${b_BOUNDS})
  check_equal("clang ${version}" "${fits}" "${expected}")
endforeach()
