# conda-forge's layout through CMAKE_PREFIX_PATH: headers and libraries lie in the prefix.
fake_torch("${case_DIR}/env" VERSION 2.13.0 CUDA 13.0 LAYOUT CONDA)
match(
  ARGS "-DCMAKE_PREFIX_PATH=${case_DIR}/env"
  AFTER "get_target_property(include CudaOps::torch INTERFACE_INCLUDE_DIRECTORIES)\nmessage(STATUS \"include [\${include}]\")"
)
expect_match(TORCH_VERSION 2.13.0+cu130 PYTHON_EXECUTABLE "${case_DIR}/env/bin/python3" VERDICT NO_TOOLKIT)
expect_stdout("include .[^ ]*${case_DIR}/env/include")
