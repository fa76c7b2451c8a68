# A gcc newer than the toolkit takes: the message names the range and the compilers here that fit.
# (torch#631 of mlverse)
include("${CMAKE_CURRENT_LIST_DIR}/../Versions/common/check.cmake")
_cudaops_use(facts/host_compiler base/message)

_cudaops_host_config_bounds("#if __GNUC__ > 15\n#error -- unsupported GNU version!\n#endif\n" b
)
_cudaops_host_compiler_check(
  e
  ID GNU
  VERSION 16.1.0
  ${b_BOUNDS}
  PATH /usr/bin/g++
  SOURCE "the C++ compiler"
  TOOLKIT 13.0.88
  TOOLKIT_ROOT "/opt/my cuda"
  OTHERS
    "/usr/bin/g++|GNU|16.1.0"
    "/usr/bin/g++-15|GNU|15.2.0"
    "/opt/a;b/clang++|Clang|14.0.6"
    "/usr/bin/g++-17|GNU|17.0.0"
)
_cudaops_stop("${e_HEAD}" FACTS ${e_FACTS} FIX ${e_FIX})
