# What clang itself reads from the environment holds for the configure's shell only: the build, in another one, finds
# ROCm's pieces all the same.
fake_rocm("${case_DIR}/machine" VERSION 5.2 LAYOUT DEBIAN)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 5.2)
set(usr "${case_DIR}/machine/usr")
case_environment("ROCM_PATH=${usr}" "HIP_DEVICE_LIB_PATH=${usr}/lib/x86_64-linux-gnu/amdgcn/bitcode")
hip_library(library)
match(ARGS ${hip_TORCH} ${hip_ARCH} AFTER "${library}")
expect_match(VERDICT EXACT HIP_ENABLED TRUE ROCM_ROOT "${usr}")
case_environment(UNSET ROCM_PATH HIP_DEVICE_LIB_PATH)
case_build()
expect_code_objects("${case_BUILD_DIR}/libkernel.so" gfx90a)

# And what it says wrongly later changes nothing.
file(MAKE_DIRECTORY "${case_DIR}/empty")
case_environment("ROCM_PATH=${case_DIR}/empty" "HIP_DEVICE_LIB_PATH=${case_DIR}/empty")
case_build(ARGS --clean-first)
