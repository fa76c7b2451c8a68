# An architecture that the toolkit no longer builds: an error that says what it builds and what to do.
# (pytorch#121099)
arch_configure(ARGS "-DCMAKE_CUDA_ARCHITECTURES=7.0;9.0")
