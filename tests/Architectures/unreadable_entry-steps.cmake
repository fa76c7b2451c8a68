# An entry that no architecture is called: an error that names it and where the list came from. (pytorch#113948)
case_environment("TORCH_CUDA_ARCH_LIST=9.0;3.10")
arch_configure()
