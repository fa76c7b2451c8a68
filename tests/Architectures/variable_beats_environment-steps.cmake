# -D beats the environment, with a line that says so.
case_environment("TORCH_CUDA_ARCH_LIST=8.0")
arch_configure(ARGS -DCMAKE_CUDA_ARCHITECTURES=90)
arch_expect("the variable wins" "90-real;90-virtual" "CMAKE_CUDA_ARCHITECTURES" "90")
case_match(
  "both values"
  "${case_STEP_STDOUT}"
  "architectures 90 \\(CMAKE_CUDA_ARCHITECTURES\\); environment TORCH_CUDA_ARCH_LIST asks for 8.0 and is not used"
)

# The same arch in another spelling is no disagreement.
case_environment("TORCH_CUDA_ARCH_LIST=9.0")
arch_configure(ARGS -DCMAKE_CUDA_ARCHITECTURES=90)
case_not_match("no line" "${case_STEP_STDOUT}" "is not used")

# find_package(Torch) copies the environment into the variable: that is no second variable.
case_environment("TORCH_CUDA_ARCH_LIST=8.0")
arch_configure(BEFORE "set(TORCH_CUDA_ARCH_LIST \$ENV{TORCH_CUDA_ARCH_LIST})" ARGS -DCMAKE_CUDA_ARCHITECTURES=90)
arch_expect("the variable wins over a copy" "90-real;90-virtual" "CMAKE_CUDA_ARCHITECTURES" "90")
