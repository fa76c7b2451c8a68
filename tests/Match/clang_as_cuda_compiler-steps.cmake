# CMake takes clang for CUDA, too; here it is nvcc alone: named, and where the project has enabled CUDA with it.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
file(RENAME "${case_DIR}/cuda/bin/nvcc" "${case_DIR}/cuda/bin/gpu-clang")
get_property(path GLOBAL PROPERTY case_ENVIRONMENT_PATH)
case_environment("PATH=${path}:${case_DIR}/cuda/bin")
match(RESULT 1 ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" -DCMAKE_CUDA_COMPILER=gpu-clang)
expect_stderr(
  "CMAKE_CUDA_COMPILER names no CUDA toolkit\\. found gpu-clang wanted a directory with bin/nvcc, or nvcc itself Fix: -DCUDAToolkit_ROOT=<toolkit> \\(or unset CMAKE_CUDA_COMPILER\\)"
)
file(REMOVE_RECURSE "${case_BUILD_DIR}")
match(
  RESULT 1
  NO_SEED
  LANGUAGES CXX CUDA
  ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" "-DCMAKE_CUDA_COMPILER=${case_DIR}/cuda/bin/gpu-clang"
)
expect_stderr(
  "CUDA was enabled before, and its compiler is of no CUDA toolkit\\. found [^ ]*/gpu-clang \\(CMAKE_CUDA_COMPILER\\) wanted a directory with bin/nvcc, or nvcc itself Fix: cmake --fresh, and the other compiler: -DCMAKE_CUDA_COMPILER=<compiler> or project\\(\\.\\.\\. LANGUAGES CXX\\) \\(find_package\\(CudaTorchMatch\\) enables CUDA\\)"
)
