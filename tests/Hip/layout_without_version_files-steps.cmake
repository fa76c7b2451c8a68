# Nothing but the headers says the version; the compiler doesn't take its surroundings for a ROCm and is told.
fake_rocm("${case_DIR}/rocm" VERSION 6.4 WITHOUT VERSION_FILES)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 6.4)
hip_library(library)
match(ARGS ${hip_ARGS} AFTER "${library}")
expect_match(VERDICT EXACT HIP_ENABLED TRUE ROCM_VERSION 6.4.43482)
case_build()
expect_code_objects("${case_BUILD_DIR}/libkernel.so" gfx90a)
