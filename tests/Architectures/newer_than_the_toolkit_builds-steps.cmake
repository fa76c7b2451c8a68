# The one architecture asked for is newer than all that the toolkit builds. (pytorch#121099)
arch_configure(ARGS -DCMAKE_CUDA_ARCHITECTURES=130)
