# hipcc, which CMake itself doesn't take, stands for the clang++ that it calls: as a variable and as HIPCXX.
hip_machine()
match(ARGS ${hip_TORCH} ${hip_ARCH} "-DCMAKE_HIP_COMPILER=${case_DIR}/rocm/bin/hipcc")
expect_match(VERDICT EXACT HIP_ENABLED TRUE CMAKE_HIP_COMPILER "${case_DIR}/rocm/lib/llvm/bin/clang++")
file(REMOVE_RECURSE "${case_BUILD_DIR}")
case_environment("HIPCXX=${case_DIR}/rocm/bin/hipcc")
match(ARGS ${hip_TORCH} ${hip_ARCH})
expect_match(VERDICT EXACT HIP_ENABLED TRUE CMAKE_HIP_COMPILER "${case_DIR}/rocm/lib/llvm/bin/clang++")
