# STRICT stops at another minor version.
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
fake_torch("${case_DIR}/venv" VERSION 2.15.0 CUDA 13.2)
match(ARGS "-DCUDAToolkit_ROOT=${case_DIR}/cuda" "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" -DCUDAOPS_VERSION_POLICY=STRICT)
case_report_equal(COMPATIBLE verdict)
