# CXX=gcc: CMake takes it, since a program without C++'s library links; what needs the library doesn't.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
set(args "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" "-DCUDAToolkit_ROOT=${case_DIR}/cuda")
foreach(pair IN ITEMS x86_64-linux-gnu-gcc-12|x86_64-linux-gnu-g++-12 clang|clang++)
  string(REPLACE "|" ";" pair "${pair}")
  list(GET pair 0 name)
  list(GET pair 1 meant)
  file(REMOVE_RECURSE "${case_BUILD_DIR}")
  match(
    BEFORE "set(CMAKE_CXX_IMPLICIT_LINK_LIBRARIES gcc gcc_s c gcc gcc_s)\nset(CMAKE_CXX_COMPILER /opt/bin/${name})"
    ARGS ${args} -DCUDAOPS_BACKEND=CPU -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON
  )
  expect_stderr("found /opt/bin/${name}, which links gcc gcc_s c wanted")
  string(REPLACE "+" "\\+" meant "${meant}")
  expect_stderr("-DCMAKE_CXX_COMPILER=/opt/bin/${meant}, or CXX=/opt/bin/${meant}")
endforeach()
# The second with -static-libstdc++.
foreach(libraries IN ITEMS "c++ gcc" "/usr/lib/gcc/x86_64-linux-gnu/12/libstdc++.a m gcc")
  file(REMOVE_RECURSE "${case_BUILD_DIR}")
  match(BEFORE "set(CMAKE_CXX_IMPLICIT_LINK_LIBRARIES ${libraries})" ARGS ${args})
  expect_match(VERDICT EXACT)
  case_equal("nothing said" "${case_STEP_STDERR}" "")
endforeach()
