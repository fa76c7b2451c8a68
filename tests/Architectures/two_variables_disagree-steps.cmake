# Two variables that disagree: a warning with both values and the one that is used.
arch_configure(ARGS -DCMAKE_CUDA_ARCHITECTURES=90 "-DTORCH_CUDA_ARCH_LIST=8.0;8.6")
arch_expect("CMake's wins" "90-real;90-virtual" "CMAKE_CUDA_ARCHITECTURES" "90")
