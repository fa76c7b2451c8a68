# The request in nvcc's words: the line to paste is the same request in ours.
arch_configure(ARGS "-DCMAKE_CUDA_ARCHITECTURES=sm_90 SM80")
