# Another ROCm later, named or in the same place: compiler, report and compile line are the new one's.
fake_rocm("${case_DIR}/old" VERSION 6.2)
fake_rocm("${case_DIR}/rocm" VERSION 6.4)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 6.4)
hip_library(library)
match(ARGS ${hip_TORCH} ${hip_ARCH} "-DROCm_ROOT=${case_DIR}/old" AFTER "${library}")
expect_match(VERDICT COMPATIBLE ROCM_ROOT "${case_DIR}/old")
case_build()
match(ARGS ${hip_ROCM} AFTER "${library}")
expect_match(
  VERDICT EXACT
  ROCM_ROOT "${case_DIR}/rocm"
  CMAKE_HIP_COMPILER "${case_DIR}/rocm/lib/llvm/bin/clang++"
  CMAKE_HIP_COMPILER_VERSION 19.0.0
)
case_build(ARGS --verbose)
case_match("build" "${case_STEP_STDOUT}" "${case_DIR}/rocm/lib/llvm/bin/clang\\+\\+\"? ")
case_not_match("build" "${case_STEP_STDOUT}" "${case_DIR}/old/")

file(REMOVE_RECURSE "${case_DIR}/rocm")
fake_rocm("${case_DIR}/rocm" VERSION 6.3)
match(AFTER "${library}")
expect_match(VERDICT COMPATIBLE ROCM_VERSION 6.3.42131 ROCM_ROOT "${case_DIR}/rocm" CMAKE_HIP_COMPILER_VERSION 18.0.0)
