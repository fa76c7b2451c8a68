# Blanks in every path: prefix, source, build.
install_package("${case_DIR}/a prefix")
set(case_BUILD_DIR "${case_DIR}/a build")
consumer(DIR "${case_DIR}/a source" ARGS "-DCMAKE_PREFIX_PATH=${case_DIR}/a prefix")
expect_consumer("^${case_DIR}/a prefix/share/cmake/CudaOps$")
