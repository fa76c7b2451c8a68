# What the user runs compilers with is left alone, and the report says it: variable, environment, property, rule.
fake_cache(ccache "version 4.14")
host_kernels()
file(WRITE "${case_DIR}/bin/mine" "#!/bin/sh\nexec \"$@\"\n")
file(CHMOD "${case_DIR}/bin/mine" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
set(said "CXX: ${case_DIR}/bin/mine (yours)")

case_configure(ARGS "-DCMAKE_CXX_COMPILER_LAUNCHER=${case_DIR}/bin/mine")
case_report_equal("${said}" cache problem)
case_report_equal("${case_DIR}/bin/mine" cache launcher)
case_build(ARGS --verbose)
refuse_stdout("cudaops-launch\"? \"?[^ ]*\\.cxx\\.settings")
expect_stdout("${case_DIR}/bin/mine\"? [^ ]*c\\+\\+")

file(REMOVE_RECURSE "${case_BUILD_DIR}")
case_environment("CMAKE_CXX_COMPILER_LAUNCHER=${case_DIR}/bin/mine")
case_configure()
case_report_equal("${said}" cache problem)
case_report_equal("${case_DIR}/bin/mine" cache launcher)
case_build(ARGS --verbose)
refuse_stdout("cudaops-launch\"? \"?[^ ]*\\.cxx\\.settings")
case_environment(UNSET CMAKE_CXX_COMPILER_LAUNCHER)

foreach(property IN ITEMS CXX_COMPILER_LAUNCHER RULE_LAUNCH_COMPILE)
  file(REMOVE_RECURSE "${case_BUILD_DIR}")
  set(value "${case_DIR}/bin/mine")
  if(property STREQUAL "RULE_LAUNCH_COMPILE")
    # A shell reads it.
    set(value "\"${value}\"")
  endif()
  project_says(
    "cudaops_add_kernels(host SHARED SOURCES one.cpp two.cpp)\nset_property(TARGET host PROPERTY CXX_COMPILER_LAUNCHER)\nset_property(TARGET host PROPERTY ${property} [[${value}]])"
  )
  case_configure()
  case_report_equal("CXX: ${value} (yours)" cache problem)
  case_report_equal("${value}" cache launcher)
  case_build(ARGS --verbose)
  refuse_stdout("cudaops-launch\"? \"?[^ ]*\\.cxx\\.settings")
  expect_stdout("${case_DIR}/bin/mine\"? [^ ]*c\\+\\+")
endforeach()

# Plain ccache on nvcc is worth a line.
file(REMOVE_RECURSE "${case_BUILD_DIR}")
machine(CUDA)
file(WRITE "${case_DIR}/src/k.cu" "int k;\n")
project_says("cudaops_add_kernels(device SHARED SOURCES k.cu)")
case_configure(ARGS "-DCMAKE_CUDA_COMPILER_LAUNCHER=ccache")
expect_stdout("nvcc is run by 'ccache', as you requested; plain ccache returns stale objects for CUDA")

# Both, and ours alone.
case_configure(ARGS "-DCMAKE_CUDA_COMPILER_LAUNCHER=${case_DIR}/bin/mine")
case_report_equal("ccache, ${case_DIR}/bin/mine" cache launcher)
case_configure(ARGS -UCMAKE_CUDA_COMPILER_LAUNCHER)
case_report_equal(ccache cache launcher)
