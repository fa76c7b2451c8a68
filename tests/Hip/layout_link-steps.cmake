# hipcc on PATH is a link into the ROCm, as packages lay it into /usr/bin; HIP_PLATFORM=nvidia of hipconfig is another
# HIP than ours.
hip_machine()
file(MAKE_DIRECTORY "${case_DIR}/bin")
file(CREATE_LINK "${case_DIR}/rocm/bin/hipcc" "${case_DIR}/bin/hipcc" SYMBOLIC)
file(CREATE_LINK "${case_DIR}/rocm/bin/hipconfig" "${case_DIR}/bin/hipconfig" SYMBOLIC)
case_path("${case_DIR}/bin")
case_environment(HIP_PLATFORM=nvidia)
match(ARGS ${hip_TORCH} ${hip_ARCH})
expect_match(VERDICT EXACT HIP_ENABLED TRUE ROCM_ROOT "${case_DIR}/rocm" CMAKE_HIP_COMPILER "${case_DIR}/rocm/lib/llvm/bin/clang++")
