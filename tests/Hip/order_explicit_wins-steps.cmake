# What the user names wins, whatever else would fit better; a hint that lost is named.
fake_rocm("${case_DIR}/rocm" VERSION 6.4)
fake_rocm("${case_DIR}/chosen" VERSION 6.2)
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 6.4)
case_environment("ROCM_PATH=${case_DIR}/rocm")
case_path("${case_DIR}/rocm/bin")
set(chosen "${case_DIR}/chosen")
foreach(
  choice
  IN
  ITEMS
    "-DCMAKE_HIP_COMPILER=${chosen}/llvm/bin/clang++|CMAKE_HIP_COMPILER|llvm/bin"
    "-DCMAKE_HIP_COMPILER_ROCM_ROOT=${chosen}|CMAKE_HIP_COMPILER_ROCM_ROOT|lib/llvm/bin"
    "-DROCm_ROOT=${chosen}|ROCm_ROOT|lib/llvm/bin"
    "-DROCM_ROOT=${chosen}|ROCM_ROOT|lib/llvm/bin"
)
  string(REPLACE "|" ";" choice "${choice}")
  list(GET choice 0 option)
  list(GET choice 1 source)
  list(GET choice 2 place)
  file(REMOVE_RECURSE "${case_BUILD_DIR}")
  match(ARGS ${hip_TORCH} ${hip_ARCH} "${option}")
  expect_match(VERDICT COMPATIBLE ROCM_ROOT "${chosen}" HIP_COMPILER "${chosen}/${place}/clang++" ROCM_VERSION 6.2.41133)
  case_report_equal("${source}" rocm source)
  expect_stdout("environment ROCM_PATH names ${case_DIR}/rocm \\(ROCm 6\\.4\\.43482\\); ${chosen} \\(${source}\\) is used instead")
endforeach()
# The environment's HIPCXX is a choice, too.
file(REMOVE_RECURSE "${case_BUILD_DIR}")
case_environment("HIPCXX=${chosen}/bin/amdclang++")
match(ARGS ${hip_TORCH} ${hip_ARCH})
expect_match(VERDICT COMPATIBLE ROCM_ROOT "${chosen}" HIP_COMPILER "${chosen}/bin/amdclang++")
case_report_equal("environment HIPCXX" rocm source)
