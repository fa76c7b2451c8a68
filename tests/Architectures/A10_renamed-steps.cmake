case_environment("TORCH_CUDA_ARCH_LIST=10.1a 9.0+PTX")
arch_configure()
