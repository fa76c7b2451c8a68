# A CPU build of torch: CUDA is off, with the reason; nothing stops. (pytorch#73047, pytorch#113550)
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU)
match(ARGS "-DCUDAToolkit_ROOT=${case_DIR}/cuda" "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python")
expect_match(
  FOUND TRUE VERDICT CPU_TORCH REASON_CODE CPU_TORCH REASON "torch 2.13.0+cpu is a CPU build" CUDA_ENABLED FALSE
  TORCH_VERSION 2.13.0+cpu TORCH_CUDA_VERSION "" languages CXX
)
expect_stdout("CUDA: off \\(cpu torch\\): torch 2.13.0.cpu is a CPU build --")
