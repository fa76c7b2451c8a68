# A checkout in a directory with a blank in its name.
file(
  COPY
    "${case_REPO}/cmake"
    "${case_REPO}/python"
    "${case_REPO}/kernels"
    "${case_REPO}/CMakeLists.txt"
    "${case_REPO}/LICENSE"
  DESTINATION "${case_DIR}/a checkout"
)
consumer(ARGS "-DCudaOps_ROOT=${case_DIR}/a checkout")
expect_consumer("^${case_DIR}/a checkout/cmake$")
