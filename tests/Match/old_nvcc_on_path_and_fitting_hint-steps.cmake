# nvcc 11.5 first on PATH, CUDA_HOME at 12.4, torch cu124: 12.4 wins, and nothing of 11.5 comes along.
# (k2#1158, gnina#263)
fake_toolkit("${case_DIR}/old" VERSION 11.5)
fake_toolkit("${case_DIR}/cuda-12.4" VERSION 12.4)
fake_torch("${case_DIR}/venv" VERSION 2.9.0 CUDA 12.4)
case_path("${case_DIR}/old/bin")
case_environment("CUDA_HOME=${case_DIR}/cuda-12.4")
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(
  VERDICT EXACT CUDA_ENABLED TRUE TOOLKIT_VERSION 12.4.131 TOOLKIT_ROOT "${case_DIR}/cuda-12.4"
  NVCC "${case_DIR}/cuda-12.4/bin/nvcc" CMAKE_CUDA_COMPILER "${case_DIR}/cuda-12.4/bin/nvcc"
)
expect_candidate(0 12.4.131 "environment CUDA_HOME" EXACT)
expect_candidate(1 11.5.119 PATH MISMATCH)
file(
  GLOB_RECURSE files
  "${case_BUILD_DIR}/*.ninja"
  "${case_BUILD_DIR}/CMakeCache.txt"
  "${case_BUILD_DIR}/CMakeFiles/*/CMakeCUDACompiler.cmake"
)
foreach(file IN LISTS files)
  file(READ "${file}" text)
  case_name_places(text)
  string(REPLACE ";" "," text "${text}")
  string(REGEX MATCHALL "[^\n]*<case>/old[^\n]*" lines "${text}")
  list(FILTER lines EXCLUDE REGEX "_CUDAOPS_|PATH")
  case_equal("${file} names 11.5" "${lines}" "")
endforeach()
expect_stdout(
  "toolkits found, of which the first is used: 12.4.131 EXACT ${case_DIR}/cuda-12.4 \\(environment CUDA_HOME\\) 11.5.119 MISMATCH ${case_DIR}/old \\(PATH\\) --"
)
