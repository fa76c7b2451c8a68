# CUDAHOSTCXX wins and is reported.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
fake_toolkit("${case_DIR}/cuda" VERSION 13.0 REAL_BOUNDS)
fake_gnu("${case_DIR}/bin/g++-13" VERSION 13.2.0)
case_environment("CUDAHOSTCXX=${case_DIR}/bin/g++-13")
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" "-DCUDAToolkit_ROOT=${case_DIR}/cuda")
expect_match(VERDICT EXACT HOST_COMPILER "${case_DIR}/bin/g++-13" CMAKE_CUDA_HOST_COMPILER "${case_DIR}/bin/g++-13")
