# The package's own build tree, configured and nothing more.
case_step(
  configure-package
  COMMAND "${case_CMAKE}" -S "${case_REPO}" -B "${case_DIR}/package" -G "${case_GENERATOR}" -DBUILD_TESTING=OFF
)
consumer(ARGS "-DCudaOps_DIR=${case_DIR}/package")
expect_consumer("^${case_DIR}/package$")
