# glibc 2.41 with CUDA 12.8: one sentence with both versions and the cures, not 200 lines of mathcalls.h.
# (extension-cpp#122)
fake_torch("${case_DIR}/venv" VERSION 2.10.0 CUDA 12.8)
fake_toolkit("${case_DIR}/cuda" VERSION 12.8)
file(
  WRITE "${case_DIR}/cuda/include/crt/math_functions.h"
  "extern __DEVICE_FUNCTIONS_DECL__ __device_builtin__ double                 cospi(double x);\n"
)
fake_gnu("${case_DIR}/bin/g++" VERSION 13.3.0 GLIBC 2.41)
case_environment("CXX=${case_DIR}/bin/g++")
match(NO_SEED ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" "-DCUDAToolkit_ROOT=${case_DIR}/cuda")
case_report_equal(HOST_COMPILER reason_code)
