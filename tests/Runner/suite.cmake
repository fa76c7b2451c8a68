# The runner is tested with cases of its own, in inner/: most of them must fail.

# run_inner(<case> <PASSES|FAILS|SKIPS> [<regex in the output>] [KIND <kind>] [DIR <the case's directory>])
function(run_inner name expected)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "KIND;DIR" "")
  if(NOT arg_KIND)
    set(arg_KIND SCRIPT)
  endif()
  if(NOT arg_DIR)
    set(arg_DIR "${case_DIR}/${name}")
  endif()
  case_step(
    "${name}"
    COMMAND
      sh -c "\"$@\"; echo \"exit code $?\"" inner "${CMAKE_COMMAND}" "-Dcase_SETTINGS=${case_SETTINGS}"
      "-Dcase_SUITE=${case_SUITE}/inner" "-Dcase_NAME=${name}" "-Dcase_KIND=${arg_KIND}" "-Dcase_DIR=${arg_DIR}"
      "-Dcase_CMAKE=${case_CMAKE}" "-Dcase_GENERATOR=${case_GENERATOR}" -P "${case_TESTS_DIR}/RunCase.cmake"
  )
  set(output "${case_STEP_STDOUT}${case_STEP_STDERR}")
  if(expected STREQUAL "FAILS")
    case_match("${name}: exit code" "${case_STEP_STDOUT}" "exit code 1$")
    case_match("${name}: says how to run it again" "${output}" "Run again by hand:")
  else()
    case_match("${name}: exit code" "${case_STEP_STDOUT}" "exit code 0$")
  endif()
  if(expected STREQUAL "SKIPS")
    case_match("${name}: skipped" "${output}" "CASE SKIPPED: ")
  else()
    case_not_match("${name}: skipped" "${output}" "CASE SKIPPED: ")
  endif()
  foreach(regex IN LISTS arg_UNPARSED_ARGUMENTS)
    case_match("${name}: output" "${output}" "${regex}")
  endforeach()
  # What the inner runner says is looked at here, not by the case's own expectations.
  set_property(GLOBAL PROPERTY case_STDERR "")
endfunction()
