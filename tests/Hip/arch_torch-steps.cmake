# Nothing is requested, no GPU is visible: what torch was built for.
fake_rocm("${case_DIR}/rocm" VERSION 6.4)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 6.4 ARCHS gfx90a gfx942 gfx1100)
match(ARGS ${hip_TORCH} ${hip_ROCM})
expect_match(VERDICT EXACT HIP_ENABLED TRUE ARCHITECTURES "gfx90a;gfx942;gfx1100" CMAKE_HIP_ARCHITECTURES "gfx90a;gfx942;gfx1100")
case_report_equal(default architectures source)
expect_stdout("architectures gfx90a gfx942 gfx1100 \\(default, nothing is requested: what torch was built for\\)")
# native is no word for the same.
