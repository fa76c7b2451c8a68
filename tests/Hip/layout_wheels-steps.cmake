# ROCm as Python wheels bring it, beside torch.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 7.1)
set(site "${case_DIR}/venv/lib/python${case_PYTHON_VERSION}/site-packages")
fake_rocm("${site}/_rocm_sdk_devel" VERSION 7.1)
match(ARGS ${hip_TORCH} -DCMAKE_HIP_ARCHITECTURES=gfx950)
expect_match(VERDICT EXACT HIP_ENABLED TRUE ROCM_VERSION 7.1.25424 ROCM_ROOT "${site}/_rocm_sdk_devel" ARCHITECTURES gfx950)
case_report_equal("wheels beside torch" rocm source)
