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

# What a later call asks for besides is compared: it says what it is not.
set(said "Reason given by package: one build tree has one match, that of <case>/src/CMakeLists.txt,")
match(
  AFTER
    "find_package(CudaTorchMatch 2.10...2.13)\nmessage(STATUS \"fits \${CudaTorchMatch_FOUND}\")\nfind_package(CudaTorchMatch 2.99 QUIET)\nmessage(STATUS \"newer \${CudaTorchMatch_FOUND}\")\nfind_package(CudaTorchMatch 2.12 EXACT)\nfind_package(CudaTorchMatch COMPONENTS HIP)"
)
expect_stdout(
  "-- fits TRUE -- newer FALSE -- "
  "${said} with torch 2\\.13\\.0\\+cu130, and here 2\\.12 is asked for\\. Fix: ask for it there, or -DPython_EXECUTABLE=<one with it>"
  "\\(missing: HIP\\) ${said} which is for CUDA"
)
