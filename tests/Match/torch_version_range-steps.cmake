# A version range; torch's local part doesn't disturb it.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU)
foreach(
  range
  IN
  ITEMS 2.10 2.13 2.13.0 2.10...2.13 2.10...<2.14
)
  match(FIND ${range} REQUIRED ARGS --fresh "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
  expect_match(FOUND TRUE TORCH_VERSION 2.13.0+cpu)
endforeach()
match(FIND 2.10...<2.13 ARGS --fresh "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(FOUND FALSE VERDICT NO_TORCH)
match(FIND 2.12 EXACT ARGS --fresh "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(FOUND FALSE VERDICT NO_TORCH)
