# What the user runs compilers with is left alone, and the report says it: variable, environment, property, rule.
fake_cache(ccache "version 4.14")
host_kernels()
file(WRITE "${case_DIR}/bin/mine" "#!/bin/sh\nexec \"$@\"\n")
file(CHMOD "${case_DIR}/bin/mine" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
set(said "CXX: ${case_DIR}/bin/mine (yours)")

case_configure(ARGS "-DCMAKE_CXX_COMPILER_LAUNCHER=${case_DIR}/bin/mine")
case_report_equal("${said}" cache problem)
case_build(ARGS --verbose)
refuse_stdout("cache_launcher")
expect_stdout("${case_DIR}/bin/mine [^ ]*c\\+\\+")

file(REMOVE_RECURSE "${case_BUILD_DIR}")
case_environment("CMAKE_CXX_COMPILER_LAUNCHER=${case_DIR}/bin/mine")
case_configure()
case_report_equal("${said}" cache problem)
case_build(ARGS --verbose)
refuse_stdout("cache_launcher")
case_environment(UNSET CMAKE_CXX_COMPILER_LAUNCHER)

foreach(
  code
  IN
  ITEMS
    "set_property(TARGET host PROPERTY CXX_COMPILER_LAUNCHER [[${case_DIR}/bin/mine]])"
    "set_property(TARGET host PROPERTY RULE_LAUNCH_COMPILE [[${case_DIR}/bin/mine]])\nset_property(TARGET host PROPERTY CXX_COMPILER_LAUNCHER)"
)
  file(REMOVE_RECURSE "${case_BUILD_DIR}")
  project_says("cudaops_add_kernels(host SHARED SOURCES one.cpp two.cpp)\n${code}")
  case_configure()
  case_report_equal("${said}" cache problem)
  case_build(ARGS --verbose)
  refuse_stdout("cache_launcher")
  expect_stdout("${case_DIR}/bin/mine [^ ]*c\\+\\+")
endforeach()

# Plain ccache on nvcc is worth a line.
file(REMOVE_RECURSE "${case_BUILD_DIR}")
machine(CUDA)
file(WRITE "${case_DIR}/src/k.cu" "int k;\n")
project_says("cudaops_add_kernels(device SHARED SOURCES k.cu)")
case_configure(ARGS "-DCMAKE_CUDA_COMPILER_LAUNCHER=ccache")
expect_stdout("nvcc is run by 'ccache', as you say; plain ccache returns stale objects for CUDA")
