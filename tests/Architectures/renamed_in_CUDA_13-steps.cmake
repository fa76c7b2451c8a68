# 10.1 is called 11.0 in CUDA 13, and the error says so. (pytorch#121099)
case_environment("TORCH_CUDA_ARCH_LIST=10.1a 9.0+PTX")
arch_configure()
