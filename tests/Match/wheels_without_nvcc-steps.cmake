# pip's CUDA headers and libraries without nvcc: CUDA is off, and the sentence says just that and how to get nvcc.
# (pytorch#197483)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
set(site "${case_DIR}/venv/lib/python${case_PYTHON_VERSION}/site-packages")
expect_match(
  FOUND TRUE VERDICT NO_TOOLKIT REASON_CODE NO_TOOLKIT CUDA_ENABLED FALSE languages CXX
  REASON "no CUDA toolkit was found: ${site}/nvidia/cu13 holds CUDA's headers and libraries (wheels that torch brings), but no nvcc"
)
expect_stdout("${case_DIR}/venv/bin/python -m pip install .cuda-toolkit.nvcc,cccl,cudart.==13.0.3., or -DCUDAOPS_PROVIDE=TOOLKIT")
