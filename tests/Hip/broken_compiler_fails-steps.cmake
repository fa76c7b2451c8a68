# A clang++ that doesn't run.
fake_rocm("${case_DIR}/rocm" VERSION 6.4 FAILS "clang++: error while loading shared libraries: libLLVM.so")
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 6.4)
match(ARGS ${hip_ARGS})
