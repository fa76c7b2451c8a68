# STRICT takes only the same minor version.
fake_rocm("${case_DIR}/rocm" VERSION 6.2)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 6.4)
match(ARGS ${hip_ARGS} -DCUDAOPS_VERSION_POLICY=STRICT)
