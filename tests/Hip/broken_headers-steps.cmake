# A ROCm that was asked for and lacks a piece: the piece is named.
fake_rocm("${case_DIR}/rocm" VERSION 6.4 WITHOUT HEADERS)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 6.4)
match(ARGS ${hip_ARGS})
