# An older torch than asked for is passed over, and said so.
fake_torch("${case_DIR}/old" VERSION 2.9.0 CPU)
fake_torch("${case_DIR}/new" VERSION 2.13.0 CPU)
case_path("${case_DIR}/old/bin" "${case_DIR}/new/bin")
match(FIND 2.10 REQUIRED)
expect_match(TORCH_VERSION 2.13.0+cpu)
match(FIND 2.14 REQUIRED ARGS --fresh)
