# One build tree has one match.
hip_machine()
fake_rocm("${case_DIR}/other" VERSION 6.2)
match(ARGS ${hip_ARGS} AFTER "set(ROCm_ROOT [==[${case_DIR}/other]==])\nfind_package(CudaTorchMatch REQUIRED)")
