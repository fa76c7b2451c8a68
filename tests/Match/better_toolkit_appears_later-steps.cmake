# Configure, then make another toolkit the best one, configure again: verdict, compiler and report all name the new one.
fake_torch("${case_DIR}/venv" VERSION 2.15.0 CUDA 13.2 NO_WHEELS)
fake_toolkit("${case_DIR}/first" VERSION 13.0)
file(MAKE_DIRECTORY "${case_DIR}/later/bin")
case_path("${case_DIR}/first/bin" "${case_DIR}/later/bin")
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(VERDICT COMPATIBLE CMAKE_CUDA_COMPILER "${case_DIR}/first/bin/nvcc")
fake_toolkit("${case_DIR}/later" VERSION 13.2)
match()
expect_match(
  VERDICT EXACT TOOLKIT_ROOT "${case_DIR}/later" CMAKE_CUDA_COMPILER "${case_DIR}/later/bin/nvcc"
  CMAKE_CUDA_COMPILER_VERSION 13.2.78
)
