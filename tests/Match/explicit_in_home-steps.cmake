# No shell expands ~ behind -D<name>=: toolkit, Python and host compiler of a home directory.
case_environment("HOME=${case_DIR}/home")
fake_toolkit("${case_DIR}/home/cuda" VERSION 13.0)
fake_torch("${case_DIR}/home/venv" VERSION 2.13.0 CUDA 13.0)
file(CREATE_LINK "${case_CXX}" "${case_DIR}/home/c++" SYMBOLIC)
match(ARGS -DCUDAToolkit_ROOT=~/cuda -DPython_EXECUTABLE=~/venv/bin/python -DCMAKE_CUDA_HOST_COMPILER=~/c++)
expect_match(VERDICT EXACT TOOLKIT_ROOT "${case_DIR}/home/cuda" HOST_COMPILER "${case_DIR}/home/c++")
