# A ROCm torch and its own ROCm: HIP is enabled, and a library in HIP's language is built.
hip_machine()
hip_library(library)
match(ARGS ${hip_ARGS} AFTER "${library}")
expect_match(
  VERDICT EXACT
  REASON_CODE ""
  HIP_ENABLED TRUE
  HIP_FOUND TRUE
  CUDA_ENABLED FALSE
  CUDA_FOUND FALSE
  TORCH_VERSION 2.13.0+rocm6.4
  TORCH_CUDA_VERSION ""
  TORCH_HIP_VERSION 6.4.43482-0f2d60242
  TOOLKIT_VERSION ""
  NVCC ""
  ROCM_VERSION 6.4.43482
  ROCM_ROOT "${case_DIR}/rocm"
  HIP_COMPILER "${case_DIR}/rocm/lib/llvm/bin/clang++"
  CMAKE_HIP_COMPILER "${case_DIR}/rocm/lib/llvm/bin/clang++"
  ARCHITECTURES gfx90a
  CMAKE_HIP_ARCHITECTURES gfx90a
  CMAKE_HIP_FLAGS ""
  CMAKE_CUDA_COMPILER ""
  CMAKE_CUDA_ARCHITECTURES ""
  languages "CXX;HIP"
)
case_report_equal(HIP backend)
case_report_equal("6.4.43482-0f2d60242" torch hip)
case_report_equal("ROCm_ROOT" rocm source)
case_report_equal(gfx90a architectures resolved 0)
case_report_equal("gfx90a" architectures requested)
case_report_equal("CMAKE_HIP_ARCHITECTURES" architectures source)
case_report(cuda torch cuda)
case_equal("torch.cuda" "${cuda}" "")
expect_stdout("ROCm 6\\.4\\.43482 at ${case_DIR}/rocm \\(ROCm_ROOT\\): EXACT" "architectures gfx90a \\(CMAKE_HIP_ARCHITECTURES\\)")
case_build()
expect_code_objects("${case_BUILD_DIR}/libkernel.so" gfx90a)
