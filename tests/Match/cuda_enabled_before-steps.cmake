# project(LANGUAGES CXX CUDA) before us: that toolkit is the explicit choice, also over a better one.
fake_torch("${case_DIR}/venv" VERSION 2.15.0 CUDA 13.2)
fake_toolkit("${case_DIR}/enabled" VERSION 13.0)
fake_toolkit("${case_DIR}/better" VERSION 13.2)
case_path("${case_DIR}/enabled/bin" "${case_DIR}/better/bin")
foreach(again IN ITEMS first second)
  match(LANGUAGES CXX CUDA ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
  expect_match(
    VERDICT COMPATIBLE TOOLKIT_ROOT "${case_DIR}/enabled" CMAKE_CUDA_COMPILER_VERSION 13.0.88 CUDA_ENABLED TRUE
    CMAKE_CUDA_FLAGS ""
  )
  case_report_equal("CUDA was enabled before" toolkit source)
endforeach()
