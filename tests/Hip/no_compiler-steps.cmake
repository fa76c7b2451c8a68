# No ROCm anywhere: the ops are built for the CPU, with the reason said.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 6.4)
match(ARGS ${hip_TORCH})
expect_match(
  VERDICT ROCM_TORCH
  REASON_CODE NO_HIP_COMPILER
  REASON "torch 2.13.0+rocm6.4 is a ROCm build, and no HIP compiler was found"
  HIP_ENABLED FALSE
  CUDA_ENABLED FALSE
  TORCH_HIP_VERSION 6.4.43482-0f2d60242
  ROCM_VERSION ""
  CMAKE_HIP_ARCHITECTURES ""
  languages CXX
)
case_report_equal(CPU backend)
expect_stdout("HIP: off \\(no hip compiler\\): torch 2\\.13\\.0.rocm6\\.4 is a ROCm build, and no HIP compiler was found")
