# A pair that the user declares to fit passes; one declared not to fit stops, whatever the rule says.
# (pytorch#73047, pytorch#113550)
fake_toolkit("${case_DIR}/cuda" VERSION 12.8)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
match(ARGS "-DCUDAToolkit_ROOT=${case_DIR}/cuda" "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" "-DCUDAOPS_COMPATIBLE_VERSIONS=11.8:12.4;12.8:13.0")
expect_match(VERDICT COMPATIBLE CUDA_ENABLED TRUE)
expect_stdout("are declared to fit by CUDAOPS_COMPATIBLE_VERSIONS")
match(ARGS "-DCUDAOPS_COMPATIBLE_VERSIONS=!12.8:13.0")
case_report_equal(MISMATCH verdict)
