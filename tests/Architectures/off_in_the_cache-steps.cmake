# To CMake OFF means that flags choose: said, because nothing here follows them. A request of another kind is one.
arch_configure(ARGS -DCMAKE_CUDA_ARCHITECTURES=OFF -DTORCH_CUDA_ARCH_LIST=8.6)
arch_expect("OFF and a list" "86-real" TORCH_CUDA_ARCH_LIST 8.6)
case_equal("nothing is said" "${case_STEP_STDERR}" "")
arch_configure(ARGS "-DCMAKE_CUDA_ARCHITECTURES= ")
case_equal("a blank says nothing" "${case_STEP_STDERR}" "")
arch_configure(ARGS -DCMAKE_CUDA_ARCHITECTURES=OFF)
