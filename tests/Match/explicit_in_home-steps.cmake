# No shell expands ~ behind -D<name>=: toolkit, Python and host compiler of a home directory.
case_environment("HOME=${case_DIR}/home")
fake_toolkit("${case_DIR}/home/cuda" VERSION 13.0)
fake_torch("${case_DIR}/home/venv" VERSION 2.13.0 CUDA 13.0)
file(CREATE_LINK "${case_CXX}" "${case_DIR}/home/c++" SYMBOLIC)
set(args -DCUDAToolkit_ROOT=~/cuda -DPython_EXECUTABLE=~/venv/bin/python)
set(expected VERDICT EXACT TOOLKIT_ROOT "${case_DIR}/home/cuda")
# CMake's link line of CUDA doesn't quote the host compiler.
if(NOT case_DIR MATCHES " ")
  list(APPEND args -DCMAKE_CUDA_HOST_COMPILER=~/c++)
  list(APPEND expected HOST_COMPILER "${case_DIR}/home/c++")
endif()
match(ARGS ${args})
expect_match(${expected})
