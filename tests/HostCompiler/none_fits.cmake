# A host compiler newer than the toolkit takes, and none on this machine that fits. (torch#631 of mlverse)
include("${CMAKE_CURRENT_LIST_DIR}/../Versions/common/check.cmake")
_cudaops_use(facts/host_compiler base/message)

_cudaops_host_compiler_check(
  e
  ID Clang
  VERSION 22.1.0
  GNU_MAX 12
  CLANG_MIN 3.3
  CLANG_MAX 16
  PATH /usr/bin/clang++
  SOURCE CUDAHOSTCXX
  TOOLKIT 12.2.140
  OTHERS "/usr/bin/g++|GNU|13.2.0"
)
_cudaops_stop("${e_HEAD}" FACTS ${e_FACTS} FIX ${e_FIX})
