# A CUDA torch and no toolkit: configures, CUDA is off and says why in one line. (pytorch#73427)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0 NO_WHEELS)
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(
  FOUND TRUE VERDICT NO_TOOLKIT REASON_CODE NO_TOOLKIT REASON "no CUDA toolkit was found" CUDA_ENABLED FALSE languages CXX
)
expect_stdout("CUDA: off \\(no toolkit\\)")
