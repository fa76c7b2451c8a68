# The wheels of CUDA 12 hold no compiler at all: nothing is advised that can't work. (pytorch#197483)
fake_torch("${case_DIR}/venv" VERSION 2.10.0 CUDA 12.8)
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
set(site "${case_DIR}/venv/lib/python${case_PYTHON_VERSION}/site-packages")
expect_match(
  VERDICT NO_TOOLKIT REASON_CODE NO_TOOLKIT CUDA_ENABLED FALSE
  REASON "no CUDA toolkit was found: ${site}/nvidia/cuda_runtime holds CUDA's headers and libraries (wheels that torch brings), but no nvcc"
)
refuse_stdout("pip install" "PROVIDE=TOOLKIT")
