# Which compilers fit which bounds; what isn't known is never refused.
include("${CMAKE_CURRENT_LIST_DIR}/../Versions/common/check.cmake")
_cudaops_use(facts/host_compiler)

set(
  bounds
  GNU_MAX
  15
  CLANG_MIN
  3.3
  CLANG_MAX
  20
  REFUSED
  Intel
  IntelLLVM
)
foreach(
  row
  IN
  ITEMS
    "GNU 15.2.1 TRUE"
    "GNU 15 TRUE"
    "GNU 4.8.5 TRUE"
    "GNU 16.0.0 FALSE"
    "GNU 16 FALSE"
    "GNU 151.0 FALSE"
    "Clang 20.1.8 TRUE"
    "Clang 21.0.0 FALSE"
    "Clang 3.3.0 TRUE"
    "Clang 3.2.9 FALSE"
    "Clang 3 FALSE"
    "AppleClang 99.0 TRUE"
    "NVHPC 24.1 TRUE"
    "Intel 19.0 FALSE"
    "IntelLLVM 2025.0 FALSE"
    "GNU junk TRUE"
)
  string(REPLACE " " ";" row "${row}")
  list(POP_FRONT row id version expected)
  _cudaops_host_compiler_fits(fits ID ${id} VERSION ${version} ${bounds})
  check_equal("${id} ${version}" "${fits}" "${expected}")
  _cudaops_host_compiler_fits(fits ID ${id} VERSION ${version})
  check_equal("${id} ${version} without bounds" "${fits}" TRUE)
endforeach()
_cudaops_host_compiler_fits(fits ID GNU VERSION "" ${bounds})
check_equal("no version" "${fits}" TRUE)
_cudaops_host_compiler_fits(fits ID GNU VERSION 4.9.4 GNU_MAX 4.9)
check_equal("4.9.4 with 4.9" "${fits}" TRUE)
_cudaops_host_compiler_fits(fits ID GNU VERSION 4.10.0 GNU_MAX 4.9)
check_equal("4.10.0 with 4.9" "${fits}" FALSE)
_cudaops_host_compiler_fits(fits ID GNU VERSION 5.1.0 GNU_MAX 4.9)
check_equal("5.1.0 with 4.9" "${fits}" FALSE)

# Flags that switch nvcc's own check off switch ours off.
foreach(
  flags
  IN
  ITEMS
    "-allow-unsupported-compiler"
    "-O2 --allow-unsupported-compiler -g"
    "-D__NV_NO_HOST_COMPILER_CHECK"
    "-D __NV_NO_HOST_COMPILER_CHECK=1"
)
  _cudaops_host_compiler_check(e ID GNU VERSION 16.1 ${bounds} FLAGS "${flags}")
  check_equal("${flags}" "${e_ERROR}|${e_HEAD}|${e_FACTS}|${e_FIX}" "|||")
endforeach()
_cudaops_host_compiler_check(e ID GNU VERSION 16.1 ${bounds} FLAGS "-O2 -Wall")
check_equal("sentence" "${e_ERROR}"
  "this CUDA toolkit does not support GNU 16.1 as host compiler (it supports gcc up to 15, clang 3.3 to 20, no Intel or IntelLLVM)."
)
_cudaops_host_compiler_check(e ID GNU VERSION 15.1 ${bounds} TOOLKIT 13.0)
check_equal("fits" "${e_ERROR}|${e_HEAD}|${e_FACTS}|${e_FIX}" "|||")
_cudaops_host_compiler_check(e ID GNU VERSION 16.1 TOOLKIT 13.0)
check_equal("no bounds" "${e_ERROR}|${e_HEAD}|${e_FACTS}|${e_FIX}" "|||")
