# HIP asked for and no torch at all: kernels can be built.
fake_rocm("${case_DIR}/rocm" VERSION 6.4)
hip_library(library)
match(FIND QUIET ARGS ${hip_ROCM} ${hip_ARCH} -DCUDAOPS_BACKEND=HIP AFTER "${library}")
expect_match(FOUND FALSE VERDICT NO_TORCH HIP_ENABLED TRUE TORCH_VERSION "" languages "CXX;HIP")
case_build()
expect_code_objects("${case_BUILD_DIR}/libkernel.so" gfx90a)
