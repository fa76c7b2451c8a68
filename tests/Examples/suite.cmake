# Each example as somebody has it who has never seen this repository: a copy of its folder, the package installed and
# then moved away, and the commands of its README.
#
# With another CMake than the build's own, what Python runs is left out: it has been seen already, and importing torch
# takes longer than the rest.

cmake_path(GET case_SETTINGS PARENT_PATH example_TOP)
cmake_path(GET example_TOP PARENT_PATH example_TOP)
set(example_OTHER_CMAKE FALSE)
if(case_DIR MATCHES "@[0-9.]+$")
  set(example_OTHER_CMAKE TRUE)
endif()

case_use_compiler_cache()

# example_top(<out-var> <member>...): from the report of the repository's own build, whose torch and toolkit are used
# here; empty where there is none.
function(example_top out)
  set(value "")
  if(EXISTS "${example_TOP}/cudaops-report.json")
    file(READ "${example_TOP}/cudaops-report.json" text)
    string(JSON value ERROR_VARIABLE error GET "${text}" ${ARGN})
    if(error)
      set(value "")
    endif()
  endif()
  set(${out} "${value}" PARENT_SCOPE)
endfunction()

example_top(example_PYTHON torch python)
example_top(example_TORCH torch dir)
example_top(example_TOOLKIT toolkit root)
example_top(example_verdict verdict)
example_top(example_code reason_code)
set(example_CUDA FALSE)
if(example_verdict MATCHES "^(EXACT|COMPATIBLE)$" AND example_code STREQUAL "")
  set(example_CUDA TRUE)
endif()

# example_begin(<example>): example_DIR is the copy, example_PACKAGE the moved package.
function(example_begin name)
  if("${example_PYTHON}" STREQUAL "")
    case_skip("no Python with torch was found for this build")
    return()
  endif()
  case_use_detections()
  file(COPY "${case_REPO}/examples/${name}" DESTINATION "${case_DIR}/my projects")
  set(example_DIR "${case_DIR}/my projects/${name}" PARENT_SCOPE)
  case_step(
    package
    COMMAND
      "${case_CMAKE}" -S "${case_REPO}" -B "${case_DIR}/package" -G "${case_GENERATOR}" -DBUILD_TESTING=OFF -DCMAKE_INSTALL_MESSAGE=NEVER
      "-DCMAKE_INSTALL_PREFIX=${case_DIR}/installed"
  )
  case_step(install COMMAND "${case_CMAKE}" --install "${case_DIR}/package")
  case_step(move COMMAND mv "${case_DIR}/installed" "${case_DIR}/moved package")
  set(package "${case_DIR}/moved package/share/cmake/CudaOps")
  case_environment("CudaOps_ROOT=${package}")
  set(example_PACKAGE "${package}" PARENT_SCOPE)
endfunction()

# example_configure(<preset> [RESULT <n>] [ARGS <arg>...]): case_BUILD_DIR is the preset's build directory.
function(example_configure preset)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "RESULT" "ARGS")
  set(result "")
  if(DEFINED arg_RESULT)
    set(result RESULT ${arg_RESULT})
  endif()
  list(APPEND arg_ARGS "-DPython_EXECUTABLE=${example_PYTHON}")
  if(example_TOOLKIT)
    list(APPEND arg_ARGS "-DCUDAToolkit_ROOT=${example_TOOLKIT}")
  endif()
  case_step(
    configure
    ${result}
    WORKING_DIRECTORY "${example_DIR}"
    COMMAND "${case_CMAKE}" --preset ${preset} ${arg_ARGS}
  )
  set(case_BUILD_DIR "${example_DIR}/build/${preset}" PARENT_SCOPE)
  set(case_STEP_STDOUT "${case_STEP_STDOUT}" PARENT_SCOPE)
  set(case_STEP_STDERR "${case_STEP_STDERR}" PARENT_SCOPE)
endfunction()

# example_build(<preset>) and example_test(<preset>): then the test's output is in case_STEP_STDOUT.
function(example_build preset)
  case_step(build WORKING_DIRECTORY "${example_DIR}" COMMAND "${case_CMAKE}" --build --preset ${preset})
endfunction()

function(example_test preset)
  cmake_path(GET case_CMAKE PARENT_PATH bin)
  set(options "")
  if(example_OTHER_CMAKE)
    set(options -LE python --no-tests=ignore)
  endif()
  case_step(ctest WORKING_DIRECTORY "${example_DIR}" COMMAND "${bin}/ctest" --preset ${preset} ${options})
  set(case_STEP_STDOUT "${case_STEP_STDOUT}" PARENT_SCOPE)
endfunction()

# example_run(<preset> [<arg>...]): configures, builds and tests.
function(example_run preset)
  example_configure(${preset} ARGS ${ARGN})
  example_build(${preset})
  example_test(${preset})
  foreach(name IN ITEMS case_BUILD_DIR case_STEP_STDOUT)
    set(${name} "${${name}}" PARENT_SCOPE)
  endforeach()
endfunction()

# example_expect(<test> Passed|Skipped|...): what ctest said about a test.
function(example_expect test outcome)
  if(example_OTHER_CMAKE)
    return()
  endif()
  string(REPLACE "." "\\." regex "${test}")
  case_match("ctest" "${case_STEP_STDOUT}" "Test +#[0-9]+: ${regex} [. *]*(${outcome})")
endfunction()

# example_member(<out-var> ops|kernels <name> <member>...): of the report's row with this name.
function(example_member out list name)
  set(value "<missing>")
  set(text "")
  if(EXISTS "${case_BUILD_DIR}/cudaops-report.json")
    file(READ "${case_BUILD_DIR}/cudaops-report.json" text)
  endif()
  string(JSON count ERROR_VARIABLE error LENGTH "${text}" ${list})
  if(NOT error AND count GREATER 0)
    math(EXPR last "${count} - 1")
    foreach(i RANGE ${last})
      string(JSON found GET "${text}" ${list} ${i} name)
      if(found STREQUAL name)
        string(JSON value ERROR_VARIABLE error GET "${text}" ${list} ${i} ${ARGN})
      endif()
    endforeach()
  endif()
  set(${out} "${value}" PARENT_SCOPE)
endfunction()

# example_expect_member(<expected> ops|kernels <name> <member>...)
function(example_expect_member expected list name)
  example_member(value ${list} ${name} ${ARGN})
  list(JOIN ARGN "." member)
  case_equal("cudaops-report.json: ${member} of ${name}" "${value}" "${expected}")
endfunction()
