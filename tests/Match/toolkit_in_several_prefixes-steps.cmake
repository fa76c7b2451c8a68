# CUDAToolkit_ROOT as a list of prefixes: the first one with a compiler is the toolkit.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
fake_toolkit("${case_DIR}/nvcc" VERSION 13.0)
file(MAKE_DIRECTORY "${case_DIR}/cudart/include")
set(python "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
match(BEFORE "set(CUDAToolkit_ROOT \"${case_DIR}/cudart;${case_DIR}/nvcc\")" ARGS "${python}")
expect_match(VERDICT EXACT TOOLKIT_ROOT "${case_DIR}/nvcc")

# And in the environment, by CMake's separator and by that of PATH.
foreach(separator IN ITEMS ";" ":")
  case_environment("CUDAToolkit_ROOT=${case_DIR}/cudart${separator}${case_DIR}/nvcc")
  file(REMOVE_RECURSE "${case_BUILD_DIR}")
  match(ARGS "${python}")
  expect_match(VERDICT EXACT TOOLKIT_ROOT "${case_DIR}/nvcc")
endforeach()
