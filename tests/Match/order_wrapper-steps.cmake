# A script around nvcc (a distribution's /usr/bin/nvcc) stands for the toolkit behind it.
fake_toolkit("${case_DIR}/cuda-13.0" VERSION 13.0)
file(WRITE "${case_DIR}/bin/nvcc" "#!/bin/sh\nexec '${case_DIR}/cuda-13.0/bin/nvcc' \"$@\"\n")
file(CHMOD "${case_DIR}/bin/nvcc" PERMISSIONS OWNER_READ OWNER_EXECUTE)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
case_path("${case_DIR}/bin" "${case_DIR}/cuda-13.0/bin")
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(VERDICT EXACT TOOLKIT_ROOT "${case_DIR}/cuda-13.0" NVCC "${case_DIR}/cuda-13.0/bin/nvcc")
case_report_equal("<missing>" candidates 1 version)
