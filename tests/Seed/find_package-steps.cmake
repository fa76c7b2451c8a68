# find_package(CudaTorchMatch) seeds CUDA by itself, and changes nothing that a project can see.
include("${case_TESTS_DIR}/fixtures/match.cmake")
fake_torch("${case_DIR}/venv" VERSION 2.15.0 CUDA 13.2 NO_WHEELS)
seed_toolkit("${case_DIR}/cuda" 13.2)
case_path("${case_DIR}/cuda/bin")

# seeded(<what> <says> [<argument>...])
function(seeded what says)
  file(REMOVE_RECURSE "${case_DIR}/build")
  match(
    BEFORE "set(module_path \"\${CMAKE_MODULE_PATH}\")"
    AFTER
      "if(NOT module_path STREQUAL \"\${CMAKE_MODULE_PATH}\" OR DEFINED _cudaops_seed_begun OR DEFINED _cudaops_seed_language)
  message(SEND_ERROR \"CMAKE_MODULE_PATH is \${CMAKE_MODULE_PATH}\")
endif()
add_library(three SHARED three.cu)"
    ARGS --log-level=VERBOSE "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" ${ARGN}
  )
  expect_match(VERDICT EXACT CMAKE_CUDA_COMPILER "${case_DIR}/cuda/bin/nvcc" CMAKE_CUDA_COMPILER_VERSION 13.2.78)
  case_match("${what}" "${case_STEP_STDOUT}" "${says}")
  expect_cached(CMAKE_CUDA_COMPILER "")
endfunction()

file(WRITE "${case_DIR}/src/three.cu" "int three() { return 3; }\n")
seeded("empty store" "Seed: CUDA is kept")
expect_cached(CMAKE_CUDA_ARCHITECTURES "")
seeded("again" "Seed: CUDA as detected before")
case_not_match("again" "${case_STEP_STDOUT}" "The CUDA compiler identification")
expect_cached(CMAKE_CUDA_ARCHITECTURES "")
case_build()
seeded("OFF" "The CUDA compiler identification" -DCUDAOPS_SEED_COMPILERS=OFF)
case_not_match("OFF" "${case_STEP_STDOUT}" "Seed:")
seeded("other architectures" "Seed: CUDA as detected before" -DCMAKE_CUDA_ARCHITECTURES=90)
seeded("project's own settings" "Seed: CUDA as detected before" -DCMAKE_CXX_STANDARD=20 -DCMAKE_BUILD_TYPE=Debug)
seeded("with CudaOpsSeed" "Seed: CUDA as detected before" "-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=${seed_MODULE}")
# A toolkit upgraded in place is found, and CMake looks again.
file(REMOVE_RECURSE "${case_DIR}/cuda")
seed_toolkit("${case_DIR}/cuda" 13.0)
match(ARGS --log-level=VERBOSE)
expect_match(VERDICT COMPATIBLE CMAKE_CUDA_COMPILER_VERSION 13.0.88)
case_match("another release" "${case_STEP_STDOUT}" "Seed: CUDA is kept")
