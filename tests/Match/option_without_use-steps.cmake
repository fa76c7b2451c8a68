# Options that have nothing to do in this project are no reason for a warning of CMake's.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU)
match(
  ARGS
    "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python"
    -DCUDAOPS_CACHE=OFF
    -DCUDAOPS_CACHE_READONLY=OFF
    -DCUDAOPS_CUDA_JOBS=2
    -DCUDAOPS_BUILD_TRACE=OFF
    -DCUDAOPS_PRECOMPILE=OFF
    -DCUDAOPS_HIPIFY=
)
expect_match(FOUND TRUE)
