# A host compiler that isn't there is a mistake to be told, not one for nvcc's own words.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
match(
  ARGS
    "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python"
    "-DCUDAToolkit_ROOT=${case_DIR}/cuda"
    "-DCMAKE_CUDA_HOST_COMPILER=${case_DIR}/g++-11"
)
