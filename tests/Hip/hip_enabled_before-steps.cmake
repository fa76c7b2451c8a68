# A project that enabled HIP itself keeps its compiler, and CMake's own default architecture is no request.
hip_machine()
match(
  LANGUAGES CXX HIP
  ARGS ${hip_TORCH} "-DCMAKE_HIP_COMPILER=${case_DIR}/rocm/llvm/bin/clang++" -DCMAKE_HIP_ARCHITECTURES=gfx942
)
expect_match(
  VERDICT EXACT
  HIP_ENABLED TRUE
  ARCHITECTURES gfx942
  CMAKE_HIP_ARCHITECTURES gfx942
  CMAKE_HIP_COMPILER "${case_DIR}/rocm/llvm/bin/clang++"
)
case_report_equal("HIP was enabled before" rocm source)
file(REMOVE_RECURSE "${case_BUILD_DIR}")
case_environment(PYTORCH_ROCM_ARCH=gfx90a)
case_path("${case_DIR}/rocm/bin")
match(LANGUAGES CXX HIP ARGS ${hip_TORCH} "-DCMAKE_HIP_COMPILER=${case_DIR}/rocm/llvm/bin/clang++")
expect_match(VERDICT EXACT HIP_ENABLED TRUE ARCHITECTURES gfx90a CMAKE_HIP_ARCHITECTURES gfx90a)
case_report_equal("environment PYTORCH_ROCM_ARCH" architectures source)
