# A conda environment that holds ROCm and torch.
fake_rocm("${case_DIR}/env" VERSION 6.3 LAYOUT CONDA)
fake_torch("${case_DIR}/env" VERSION 2.13.0 ROCM 6.3 LAYOUT CONDA)
case_environment("CONDA_PREFIX=${case_DIR}/env")
hip_library(library)
match(ARGS ${hip_ARCH} AFTER "${library}")
expect_match(
  VERDICT EXACT
  HIP_ENABLED TRUE
  ROCM_VERSION 6.3.42131
  ROCM_ROOT "${case_DIR}/env"
  HIP_COMPILER "${case_DIR}/env/bin/clang++"
  languages "CXX;HIP"
)
case_build()
expect_code_objects("${case_BUILD_DIR}/libkernel.so" gfx90a)
