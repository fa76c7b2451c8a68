# The target: one in a build tree with several projects, not part of ALL; its files; what it says before a build, after
# one and again; with Makefiles.
machine(CPU)
foreach(directory IN ITEMS sub "a b")
  file(
    WRITE "${case_DIR}/src/${directory}/CMakeLists.txt"
    "project(inner LANGUAGES CXX)\nfind_package(CudaTorchMatch)\n"
  )
endforeach()
file(WRITE "${case_DIR}/src/part.h" "#pragma once\n#include <vector>\n")
file(WRITE "${case_DIR}/src/op.cpp" "// one\n#include \"part.h\"\nint op() { return 1; }\n")
configure([[
find_package(CudaTorchMatch)
add_subdirectory(sub)
add_subdirectory("a b")
cudaops_add_kernels(parts STATIC SOURCES op.cpp)
]]
)
if(case_GENERATOR MATCHES "Makefiles")
  case_build()
  case_build(RESULT 2 ARGS --target cudaops_build_report)
  expect_stderr(
    "^cudaops_build_report: only Ninja notes how long its jobs take\\. found [^\n]*/build, built with Unix Makefiles Fix: cmake -S <source> -B <another directory> -G Ninja"
  )
  return()
endif()

case_build(RESULT 1 ARGS --target cudaops_build_report)
expect_stderr("^cudaops_build_report: no job has succeeded here yet\\. (found no job in|missing) .*/build/\\.ninja_log Fix: cmake --build .*/build")
case_build()
refuse_stdout("cudaops_build_report|Looking where")
case_build(ARGS --target cudaops_build_report)
# In either order: on a busy machine ar may take longer.
expect_stdout(
  "cudaops_build_report: ${case_BUILD_DIR}/cudaops-build-report\\.html \\(and \\.json\\) 2 jobs, [0-9.]+ m?s of work in [0-9.]+ m?s, at most 1 at once"
  "[12]\\. op\\.cpp takes [0-9.]+ m?s, [0-9]+ % of the work"
)
file(READ "${case_BUILD_DIR}/cudaops-build-report.html" page)
case_match("page" "${page}" "^<!doctype html>.*</html>")
case_not_match("page that needs others" "${page}" "(src|href)=|https?://|@import")
report_job(job op.cpp)
foreach(pair IN ITEMS kind:compile language:CXX target:parts)
  string(REPLACE ":" ";" pair "${pair}")
  list(GET pair 0 member)
  list(GET pair 1 expected)
  report(value jobs "${job}" ${member})
  case_equal("${member} of op.cpp" "${value}" "${expected}")
endforeach()
report_job(job libparts.a)
report(value jobs "${job}" kind)
case_equal("kind of libparts.a" "${value}" archive)
report(headers headers)
case_match("headers" "${headers}" "\"part\\.h\"[^}]*\"op\\.cpp:2\".*\"vector\"[^}]*\"part\\.h:2\"")
# The report's own run is no job, and a report changes nothing.
case_build(ARGS --target cudaops_build_report)
expect_stdout("\\(and \\.json\\) 2 jobs, ")
case_build()
expect_stdout("no work to do")
