# pip's toolkit beside torch holds the whole compiler since CUDA 13.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
set(site "${case_DIR}/venv/lib/python${case_PYTHON_VERSION}/site-packages")
fake_toolkit("${site}" VERSION 13.0 LAYOUT PIP)
match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(VERDICT EXACT CUDA_ENABLED TRUE NVCC "${site}/nvidia/cu13/bin/nvcc" TOOLKIT_ROOT "${site}/nvidia/cu13")
case_report_equal("wheels beside torch" toolkit source)
