# An unpacked libtorch, by Torch_ROOT and by CMAKE_PREFIX_PATH; no Python is needed.
fake_torch("${case_DIR}/libtorch" VERSION 2.13.0 CUDA 13.0 LAYOUT LIBTORCH)
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
foreach(setting IN ITEMS Torch_ROOT=libtorch Torch_DIR=libtorch/share/cmake/Torch CMAKE_PREFIX_PATH=libtorch)
  string(REPLACE "=" "=${case_DIR}/" setting "${setting}")
  match(ARGS --fresh "-D${setting}" "-DCUDAToolkit_ROOT=${case_DIR}/cuda")
  expect_match(
    VERDICT EXACT TORCH_VERSION 2.13.0+cu130 TORCH_CUDA_VERSION 13.0 TORCH_DIR "${case_DIR}/libtorch"
    PYTHON_EXECUTABLE "" CUDA_ENABLED TRUE
  )
endforeach()
