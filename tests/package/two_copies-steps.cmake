# Two copies of one release: either will do. Of two releases: refused, with both places.
file(COPY "${case_REPO}/cmake" "${case_REPO}/python" DESTINATION "${case_DIR}/copy")
file(
  WRITE "${case_PROJECT_DIR}/other/CMakeLists.txt"
  "set(CudaOps_DIR [==[${case_DIR}/copy/cmake]==])\nfind_package(CudaOps REQUIRED NO_DEFAULT_PATH PATHS [==[${case_DIR}/copy/cmake]==])\n"
)
consumer(
  HEAD "set(CudaOps_ROOT [==[${case_REPO}]==])"
  BODY "find_package(CudaTorchMatch REQUIRED)\nadd_torch_op(package_op SOURCES op.cpp)\nadd_subdirectory(other)"
)
expect_consumer("^${case_REPO}/cmake$")
file(READ "${case_DIR}/copy/cmake/CudaOpsConfigVersion.cmake" text)
string(REPLACE "\"0.1.0\"" "\"0.1.7\"" text "${text}")
file(WRITE "${case_DIR}/copy/cmake/CudaOpsConfigVersion.cmake" "${text}")
case_configure(SOURCE_DIR "${case_PROJECT_DIR}")
