# The host compiler that nvcc's own variables name, as conda's cuda-nvcc does, is the one that is checked and reported; a
# second -ccbin that differs would make nvcc warn in each compile.
if(case_DIR MATCHES " ")
  case_skip("CMake 3.25 can't link CUDA with a host compiler whose path holds a blank")
  return()
endif()
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
fake_toolkit("${case_DIR}/cuda" VERSION 13.0 REAL_BOUNDS)
fake_gnu("${case_DIR}/bin/g++-13" VERSION 13.2.0)
fake_gnu("${case_DIR}/other/gcc" VERSION 14.2.0)
case_path("${case_DIR}/bin")
file(WRITE "${case_PROJECT_DIR}/a.cu" "__device__ int f() { return 1; }\n")
set(other "${case_DIR}/other/gcc")
set(named "${case_DIR}/bin/g++-13")

# host(<version> <path> <source> <-ccbin is passed>) with the environment that is set.
function(host version path source passed)
  file(REMOVE_RECURSE "${case_BUILD_DIR}")
  match(
    AFTER
      "set(CMAKE_EXPORT_COMPILE_COMMANDS ON)\nadd_library(a OBJECT a.cu)\n_cudaops_state_get(HOST_COMPILER_SOURCE source)\nmessage(STATUS \"host: \${source}\")"
    ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" "-DCUDAToolkit_ROOT=${case_DIR}/cuda"
  )
  expect_match(VERDICT EXACT CUDA_ENABLED TRUE HOST_COMPILER "${path}")
  case_report_equal("${version}" host_compiler version)
  case_match("where it was named" "${case_STEP_STDOUT}" "host: ${source}")
  file(READ "${case_BUILD_DIR}/compile_commands.json" commands)
  string(JSON command GET "${commands}" 0 command)
  string(REGEX MATCHALL "-ccbin[= ][^ ]+" found "${command}")
  set(wanted ${ARGN})
  if(passed)
    list(APPEND wanted "-ccbin=${path}")
  endif()
  case_equal("-ccbin in nvcc's line" "${found}" "${wanted}")
endfunction()

# Before CMake has made CMAKE_CUDA_FLAGS of it.
case_environment("CUDAFLAGS=-ccbin=g++-13")
host(13.2.0 "${named}" "environment CUDAFLAGS" FALSE "-ccbin=g++-13")
case_environment(CUDAFLAGS=)

case_environment("NVCC_CCBIN=${case_DIR}/other/")
host(14.2.0 "${other}" "environment NVCC_CCBIN" TRUE)
case_environment("NVCC_PREPEND_FLAGS=-ccbin=g++-13 -O3")
host(13.2.0 "${named}" "environment NVCC_PREPEND_FLAGS" FALSE)
case_environment("NVCC_APPEND_FLAGS=-ccbin g++ --compiler-bindir ${other}")
host(14.2.0 "${other}" "environment NVCC_APPEND_FLAGS" TRUE)

# Too new by any name.
fake_gnu("${case_DIR}/bin/g++-17" VERSION 17.1.0)
case_environment("NVCC_APPEND_FLAGS=-ccbin ${case_DIR}/bin/g++-17")
file(REMOVE_RECURSE "${case_BUILD_DIR}")
match(RESULT 1 ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" "-DCUDAToolkit_ROOT=${case_DIR}/cuda")
case_match("the refusal" "${case_STEP_STDERR}" "GNU 17.1.0 at <case>/bin/g..-17 \\(environment NVCC_APPEND_FLAGS\\)")
case_match("the cure" "${case_STEP_STDERR}" "HOST_COMPILER=[^\n]*, without -ccbin in NVCC_APPEND_FLAGS")
set_property(GLOBAL PROPERTY case_STDERR "")
