# gcc newer than the toolkit takes: an error with the range and the compilers here that fit.
fake_torch("${case_DIR}/venv" VERSION 2.9.0 CUDA 12.4)
fake_toolkit("${case_DIR}/cuda" VERSION 12.4 REAL_BOUNDS)
fake_gnu("${case_DIR}/bin/g++" VERSION 14.2.0)
fake_gnu("${case_DIR}/bin/g++-13" VERSION 13.2.0)
fake_gnu("${case_DIR}/bin/g++-14" VERSION 14.2.0)
case_path("${case_DIR}/bin")
match(NO_SEED ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" "-DCUDAToolkit_ROOT=${case_DIR}/cuda" "-DCMAKE_CXX_COMPILER=${case_DIR}/bin/g++")
case_report_equal(HOST_COMPILER reason_code)
