# Languages and a name come from project(): there are none yet.
case_project(NO_SEED LANGUAGES CXX PRELUDE "" BODY "")
file(READ "${case_PROJECT_DIR}/CMakeLists.txt" text)
string(
  REPLACE "project("
  "find_package(CudaOps REQUIRED)\nfind_package(CudaTorchMatch REQUIRED)\nproject("
  text
  "${text}"
)
file(WRITE "${case_PROJECT_DIR}/CMakeLists.txt" "${text}")
case_configure()
