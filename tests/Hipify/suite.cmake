# What is translated to HIP, when, and what is refused. The translator is the one of the fake torches; HIP is a fake too,
# which compiles sources without launches. tests/python/test_hipify.py has the real ones.

include("${case_TESTS_DIR}/AddTorchOp/common/commands.cmake")
set(
  commands_USAGE
  "hipify_sources(<out-var> SOURCES <file>... [INCLUDE_DIRECTORIES <dir>...] [OUTPUT_DIRECTORY <dir>])"
)
set(case_ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")

# hip_machine(): ROCm 6.4 and a torch for it; the project's find_package(CudaTorchMatch) enables HIP.
function(hip_machine)
  fake_rocm("${case_DIR}/rocm" VERSION 6.4)
  fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 6.4)
  set(
    case_ARGS
    ${case_ARGS}
    "-DROCm_ROOT=${case_DIR}/rocm"
    -DCMAKE_HIP_ARCHITECTURES=gfx90a
    -DCMAKE_BUILD_TYPE=Release
    PARENT_SCOPE
  )
endfunction()

# source(<name> <line>...): a file of the project.
function(source name)
  set(text "")
  math(EXPR last "${ARGC} - 1")
  foreach(i RANGE 1 ${last})
    string(APPEND text "${ARGV${i}}\n")
  endforeach()
  file(WRITE "${case_DIR}/src/${name}" "${text}")
endfunction()

# expect_commands(<command>...): what the last build step ran, in any order: "translate <file>", "compile <file>",
# "link <file>". Ninja and make say it in the same words. The source that the package itself writes is left out.
function(expect_commands)
  set(found "")
  string(
    REGEX MATCHALL "(Translating to HIP: |Building [A-Z]+ object |Linking [^\n]* )[^\n]*"
    lines
    "${case_STEP_STDOUT}"
  )
  list(FILTER lines EXCLUDE REGEX "/CudaOps/[^/ ]*_architectures\\.cpp")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^Translating to HIP: (.*)$" "translate \\1" line "${line}")
    string(REGEX REPLACE "^Building [A-Z]+ object .*\\.hipified/(.*)\\.o$" "compile \\1" line "${line}")
    string(REGEX REPLACE "^Linking .*[ /]([^/ ]*)$" "link \\1" line "${line}")
    list(APPEND found "${line}")
  endforeach()
  list(SORT found)
  set(wanted "${ARGN}")
  list(SORT wanted)
  list(JOIN found "\n" found)
  list(JOIN wanted "\n" wanted)
  case_equal("what was run" "${found}" "${wanted}")
endfunction()

# touch(<file>): a file of the project, newer than what was built from it. Times are those of the kernel's last tick, up to
# 10 ms old: within the tick of an output it would be as old as that.
function(touch file)
  case_step("a tick" COMMAND sleep 0.02)
  case_step(touch COMMAND touch "${case_DIR}/src/${file}")
endfunction()

# snapshot(<prefix> <directory>): sets <prefix>_FILES, <prefix>_TIMES and <prefix>_CONTENT, without what is ours alone.
function(snapshot prefix directory)
  file(GLOB_RECURSE files RELATIVE "${directory}" "${directory}/*")
  list(FILTER files EXCLUDE REGEX "(^|/)\\.hipify/|^CMakeFiles/cudaops/")
  list(SORT files)
  set(times "")
  set(content "")
  foreach(file IN LISTS files)
    execute_process(COMMAND stat -c %y "${directory}/${file}" OUTPUT_VARIABLE time OUTPUT_STRIP_TRAILING_WHITESPACE)
    list(APPEND times "${file}: ${time}")
    file(SHA1 "${directory}/${file}" hash)
    list(APPEND content "${file}: ${hash}")
  endforeach()
  foreach(part IN ITEMS files times content)
    list(JOIN ${part} "\n" ${part})
    string(TOUPPER ${part} upper)
    set(${prefix}_${upper} "${${part}}" PARENT_SCOPE)
  endforeach()
endfunction()

# expect_file(<file> <text>)
function(expect_file file text)
  set(found "<no such file>")
  if(EXISTS "${file}")
    file(READ "${file}" found)
  endif()
  case_equal("${file}" "${found}" "${text}")
endfunction()
