# The installed package at another place than it was installed to.
install_package("${case_DIR}/prefix")
file(RENAME "${case_DIR}/prefix" "${case_DIR}/moved")
consumer(ARGS "-DCudaOps_ROOT=${case_DIR}/moved")
expect_consumer("^${case_DIR}/moved/share/cmake/CudaOps$")
