# Debian's packages: clang++ has its version in its name and must be told where everything is.
fake_rocm("${case_DIR}/machine" VERSION 5.2 LAYOUT DEBIAN)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 5.2)
case_path("${case_DIR}/machine/usr/bin")
hip_library(library)
match(ARGS ${hip_TORCH} -DCMAKE_HIP_ARCHITECTURES=gfx90a:xnack+ AFTER "${library}")
expect_match(
  VERDICT EXACT
  HIP_ENABLED TRUE
  ROCM_VERSION 5.2.21153
  ROCM_ROOT "${case_DIR}/machine/usr"
  HIP_COMPILER "${case_DIR}/machine/usr/bin/clang++-15"
  CMAKE_HIP_COMPILER "${case_DIR}/machine/usr/bin/clang++-15"
  CMAKE_HIP_ARCHITECTURES gfx90a:xnack+
  languages "CXX;HIP"
)
case_report_equal(PATH rocm source)
case_build()
expect_code_objects("${case_BUILD_DIR}/libkernel.so" gfx90a:xnack+)
# Again: the same, and nothing to do.
match(ARGS ${hip_TORCH} AFTER "${library}")
expect_match(VERDICT EXACT CMAKE_HIP_ARCHITECTURES gfx90a:xnack+)
case_build()
case_match("second build" "${case_STEP_STDOUT}" "no work to do")
