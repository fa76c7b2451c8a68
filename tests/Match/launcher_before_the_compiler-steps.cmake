# CXX="distcc g++", as many set it with ccache: the compiler is what stands behind, for nvcc too, and the launcher is the user's own.
if(case_DIR MATCHES " ")
  case_skip("a path with a blank can't stand in CXX before arguments")
  return()
endif()
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
file(WRITE "${case_DIR}/bin/distcc" "#!/bin/sh\nexec \"$@\"\n")
file(CHMOD "${case_DIR}/bin/distcc" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
file(CREATE_LINK "${case_CXX}" "${case_DIR}/bin/g++-own" SYMBOLIC)
case_path("${case_DIR}/bin")
file(WRITE "${case_PROJECT_DIR}/op.cpp" "int f() { return 1; }\n")

foreach(compiler IN ITEMS g++-own "${case_DIR}/bin/g++-own")
  file(REMOVE_RECURSE "${case_BUILD_DIR}")
  case_environment("CXX=${case_DIR}/bin/distcc ${compiler}")
  match(
    AFTER "cudaops_add_kernels(kernels SOURCES op.cpp)"
    ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" "-DCUDAToolkit_ROOT=${case_DIR}/cuda"
  )
  expect_match(VERDICT EXACT CUDA_ENABLED TRUE HOST_COMPILER "${case_DIR}/bin/g++-own")
  case_report_equal("${case_DIR}/bin/distcc" cache launcher)
endforeach()
