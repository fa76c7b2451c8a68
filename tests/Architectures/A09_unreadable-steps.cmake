case_environment("TORCH_CUDA_ARCH_LIST=9.0;3.10")
arch_configure()
