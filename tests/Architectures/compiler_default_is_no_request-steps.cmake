# CMake writes the compiler's default, or CUDAARCHS, into the cache by itself: the user said nothing.
set(entry "set(CMAKE_CUDA_COMPILER [==[${case_DIR}/cuda/bin/nvcc]==])")
set(default "set(CMAKE_CUDA_ARCHITECTURES 75 CACHE STRING \"CUDA architectures\")\n${entry}")
case_environment("TORCH_CUDA_ARCH_LIST=9.0")
foreach(again IN ITEMS "" AGAIN)
  arch_configure(${again} BEFORE "${default}")
  arch_expect("default ${again}" "90-real" "environment TORCH_CUDA_ARCH_LIST" "9.0")
  case_not_match("no line ${again}" "${case_STEP_STDOUT}" "is not used")
endforeach()

case_environment(CUDAARCHS=86)
arch_configure(BEFORE "set(CMAKE_CUDA_ARCHITECTURES 86 CACHE STRING \"CUDA architectures\")\n${entry}")
arch_expect("CUDAARCHS of this configure" "86-real;86-virtual" "environment CUDAARCHS" "86")
case_match("both values" "${case_STEP_STDOUT}" "environment TORCH_CUDA_ARCH_LIST asks for 9.0 and is not used")

# From a configure before ours: not the default, so CUDAARCHS it was.
case_environment(UNSET CUDAARCHS TORCH_CUDA_ARCH_LIST)
arch_configure(BEFORE "set(CMAKE_CUDA_ARCHITECTURES \"80;86\" CACHE STRING \"CUDA architectures\")\n${entry}")
arch_expect("CUDAARCHS of an earlier one" "80-real;80-virtual;86-real;86-virtual" "environment CUDAARCHS" "80;86")

# The user's own entry holds, even where it equals the default.
case_environment(CUDAARCHS=86)
arch_configure(BEFORE "${entry}" ARGS -DCMAKE_CUDA_ARCHITECTURES=75)
arch_expect("the user's 75" "75-real;75-virtual" "CMAKE_CUDA_ARCHITECTURES" "75")
