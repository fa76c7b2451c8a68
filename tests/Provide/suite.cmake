# No case here needs a network: uv is a script, and where pip is the real one, its wheels are made on the spot.

# call_provide(<name> <function> <arg>... [RESULT <n>] [DEFINE <-D…>…]): calls a function of detail/search/provide.cmake
# in a script and prints what it returns.
function(call_provide name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "RESULT" "DEFINE")
  set(result "")
  if(DEFINED arg_RESULT)
    set(result RESULT ${arg_RESULT})
  endif()
  case_step(
    "${name}"
    ${result}
    COMMAND
      "${case_CMAKE}" "-Dcase_REPO=${case_REPO}" "-DPython_EXECUTABLE=${case_PYTHON}" ${arg_DEFINE}
      "-Dcall=${arg_UNPARSED_ARGUMENTS}" -P "${case_SUITE}/common/call.cmake"
  )
  set(case_STEP_STDOUT "${case_STEP_STDOUT}" PARENT_SCOPE)
  set(case_STEP_STDERR "${case_STEP_STDERR}" PARENT_SCOPE)
endfunction()

# use_fake_uv(): a uv first on PATH. FAKE_UV in the environment says how it behaves; it notes its calls in uv.log.
macro(use_fake_uv)
  file(COPY "${case_SUITE}/common/uv" DESTINATION "${case_DIR}/bin")
  case_path("${case_DIR}/bin")
  case_environment("FAKE_UV_DIR=${case_DIR}")
endmacro()

# expect_calls(<n>): how often uv installed something.
function(expect_calls number)
  set(lines "")
  if(EXISTS "${case_DIR}/uv.log")
    file(STRINGS "${case_DIR}/uv.log" lines ENCODING UTF-8)
  endif()
  list(LENGTH lines length)
  case_equal("calls of the installer" "${length}" "${number}")
endfunction()

# expect_store(<kind> <entry>...): what lies there, parts included.
function(expect_store kind)
  file(
    GLOB entries
    LIST_DIRECTORIES TRUE
    RELATIVE "${case_DIR}/store/${kind}"
    "${case_DIR}/store/${kind}/*"
    "${case_DIR}/store/${kind}/.*"
  )
  list(REMOVE_ITEM entries .lock CACHEDIR.TAG . ..)
  case_equal("store/${kind}" "${entries}" "${ARGN}")
endfunction()

# use_plain_python(): an interpreter that has no pip.
macro(use_plain_python)
  execute_process(
    COMMAND "${case_PYTHON}" -m venv --without-pip "${case_DIR}/plain"
    COMMAND_ERROR_IS_FATAL ANY
  )
  set(case_PYTHON "${case_DIR}/plain/bin/python")
endmacro()

# use_real_pip(): skips the case where the interpreter has none that is new enough.
macro(use_real_pip)
  execute_process(COMMAND "${case_PYTHON}" -m pip --version OUTPUT_VARIABLE version ERROR_QUIET)
  if(NOT version MATCHES "^pip ([0-9.]+)" OR CMAKE_MATCH_1 VERSION_LESS 22.3)
    case_skip("no pip >= 22.3 in ${case_PYTHON}")
  endif()
endmacro()
