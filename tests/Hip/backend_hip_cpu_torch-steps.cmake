# HIP asked for, by the environment, with a CPU build of torch.
fake_rocm("${case_DIR}/rocm" VERSION 6.4)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU)
case_environment(CUDAOPS_BACKEND=HIP)
match(ARGS ${hip_ARGS})
expect_match(VERDICT CPU_TORCH REASON_CODE "" HIP_ENABLED TRUE languages "CXX;HIP")
