# ROCm of another major stops.
fake_rocm("${case_DIR}/rocm" VERSION 5.7)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 6.4)
match(ARGS ${hip_ARGS})
case_report_equal(MISMATCH verdict)
case_report_equal(MISMATCH reason_code)
case_report_equal(5.7.31921 candidates 0 version)
