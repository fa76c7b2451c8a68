# The same facts, no new work, and nothing said twice; from a subdirectory too.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
file(
  WRITE "${case_PROJECT_DIR}/sub/CMakeLists.txt"
  "find_package(CudaTorchMatch REQUIRED)\nmessage(STATUS \"sub \${CudaTorchMatch_VERDICT} \${CudaTorchMatch_CUDA_ENABLED}\")\n"
)
match(
  AFTER
    "unset(CudaTorchMatch_VERDICT)\nfind_package(CudaTorchMatch REQUIRED)\nmessage(STATUS \"again \${CudaTorchMatch_VERDICT}\")\nadd_subdirectory(sub)"
  ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" "-DCUDAToolkit_ROOT=${case_DIR}/cuda"
)
expect_match(VERDICT EXACT CUDA_ENABLED TRUE)
expect_stdout("-- again EXACT --" "-- sub EXACT TRUE --")
refuse_stdout("-- CudaTorchMatch: torch .*-- CudaTorchMatch: torch ")
