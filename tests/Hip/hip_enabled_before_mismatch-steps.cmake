# The compiler of a project that enabled HIP itself is judged like any other.
fake_rocm("${case_DIR}/rocm" VERSION 5.7)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 6.4)
match(LANGUAGES CXX HIP ARGS ${hip_TORCH} ${hip_ARCH} "-DCMAKE_HIP_COMPILER=${case_DIR}/rocm/llvm/bin/clang++")
