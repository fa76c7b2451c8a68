# A translation is made by a custom command, which some releases of CMake don't make in every directory.
hip_machine()
source(k.cu "int k() { return 1; }")
set(case_BUILD_DIR "${case_DIR}/c#")
file(
  WRITE "${case_DIR}/trial/CMakeLists.txt"
  "cmake_minimum_required(VERSION 3.25)\nproject(trial LANGUAGES NONE)\nadd_custom_target(trial ALL COMMAND sh -c :)\n"
)
execute_process(
  COMMAND
    sh -c "\"$1\" -S \"$2\" -B \"$2/c#\" -G \"$3\" && \"$1\" --build \"$2/c#\"" sh "${case_CMAKE}" "${case_DIR}/trial"
    "${case_GENERATOR}"
  RESULT_VARIABLE refused
  OUTPUT_QUIET
  ERROR_QUIET
)
set(call "hipify_sources(k_hip SOURCES k.cu)\nadd_library(k OBJECT \${k_hip})")
if(refused)
  misuse(
    "${call}"
    [[
hipify_sources(k_hip): a translation is made by a custom command, and CMake makes none in a directory with # in its path.
  found   <case>/c#
 Fix: cmake -B <a directory without #>
]]
  )
else()
  configure("${call}")
  case_build()
  expect_commands("translate k.cu" "compile k.cu")
endif()
