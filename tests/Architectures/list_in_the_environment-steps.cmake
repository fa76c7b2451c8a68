# An arch list in the environment, on a machine without a GPU. (pytorch#155314)
case_environment("TORCH_CUDA_ARCH_LIST=9.0a 12.0+PTX")
arch_configure()
arch_expect("from the environment" "90a-real;120-real;120-virtual" "environment TORCH_CUDA_ARCH_LIST" "9.0a 12.0+PTX")

# Ninja configures again in whatever shell it runs.
case_environment("TORCH_CUDA_ARCH_LIST=8.0")
arch_configure(AGAIN)
arch_expect("kept" "90a-real;120-real;120-virtual" "environment TORCH_CUDA_ARCH_LIST" "9.0a 12.0+PTX")
case_match(
  "the change is said"
  "${case_STEP_STDOUT}"
  "environment TORCH_CUDA_ARCH_LIST was '9.0a 12.0.PTX' at the first configure and is kept; it is '8.0' now"
)
