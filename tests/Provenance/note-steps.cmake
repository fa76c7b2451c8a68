case_project(PRELUDE "set(case_PYTHON [==[${case_PYTHON}]==])")
case_configure(ARGS "-Dreason=nothing in /usr/local/cuda-13.0 (or /opt/a b/c), see https://example.org/a/b")
case_build()
set(
  read
  "${case_PYTHON}"
  -I
  -S
  -B
  "${case_REPO}/python/cudaops/_run.py"
  inspect_library
)
case_step(inspect COMMAND ${read} "${case_BUILD_DIR}/libop_one.so" --json)
string(JSON note ERROR_VARIABLE error GET "${case_STEP_STDOUT}" provenance)
foreach(
  pair
  IN
  ITEMS
    [[op|op_one]]
    [[project|odd; "name" \ @x@]]
    [[state|BUILT]]
    [[torch|2.13.0]]
    [[reason|nothing in cuda-13.0 (or a b/c), see https://example.org/a/b]]
)
  string(REGEX MATCH "^([a-z]+)\\|(.*)$" matched "${pair}")
  set(expected "${CMAKE_MATCH_2}")
  string(JSON value ERROR_VARIABLE error GET "${note}" "${CMAKE_MATCH_1}")
  case_equal("${CMAKE_MATCH_1} of the note" "${value}" "${expected}")
endforeach()
case_step(inspect COMMAND ${read} "${case_BUILD_DIR}/libop_two.so" --json)
string(JSON note ERROR_VARIABLE error GET "${case_STEP_STDOUT}" provenance)
string(JSON members LENGTH "${note}")
case_equal("members of a note without JSON" "${members}" "2")
case_not_match("path of this machine" "${case_STEP_STDOUT}" "provenance[^}]*${case_DIR}")

# The note is written again only when it changes.
set(source "${case_BUILD_DIR}/CudaOps/op_one_provenance.cpp")
file(TIMESTAMP "${source}" before "%s")
case_step(wait COMMAND sleep 1.1)
case_configure()
file(TIMESTAMP "${source}" after "%s")
case_equal("time of the source after a second configure" "${after}" "${before}")
case_configure(ARGS -Dreason=other)
file(TIMESTAMP "${source}" after "%s")
case_not_match("time of the source after a change" "${after}" "^${before}$")
case_build()
case_step(inspect COMMAND ${read} "${case_BUILD_DIR}/libop_one.so")
case_match("summary" "${case_STEP_STDOUT}" "state BUILT: other")

# Only the second copy of an op says something, and only once.
set(lib "${case_BUILD_DIR}/lib")
case_step(
  no_copy
  COMMAND "${case_BUILD_DIR}/load" ${lib}first_copy.so ${lib}first_copy.so ${lib}other_project.so ${lib}op_two.so
)
case_step(copy COMMAND "${case_BUILD_DIR}/load" ${lib}first_copy.so ${lib}op_one.so ${lib}second_copy.so)
