# ROCm 5.4: its CMake files look for their parts where only /usr is searched.
fake_rocm("${case_DIR}/rocm" VERSION 5.4)
fake_torch("${case_DIR}/venv" VERSION 2.10.0 ROCM 5.4)
hip_library(library)
match(ARGS ${hip_ARGS} AFTER "${library}")
expect_match(VERDICT EXACT HIP_ENABLED TRUE ROCM_VERSION 5.4.22804)
case_build()
expect_code_objects("${case_BUILD_DIR}/libkernel.so" gfx90a)
