# Sources and headers that the build makes are translated when they are there; a source outside of the project, with an
# include directory above it or beside the project, is too.
hip_machine()
source(k.cu "#include \"made.h\"" "#include <configured.h>" "cudaError_t k() { return made(); }"
)
file(WRITE "${case_DIR}/csrc/b.cu" "#include \"../common/b.h\"\ncudaError_t b() { return b_h(); }\n")
file(
  WRITE "${case_DIR}/common/b.h"
  "#include <cuda_runtime.h>\ninline cudaError_t b_h() { return cudaGetLastError(); }\n"
)
file(WRITE "${case_DIR}/shared/kernels/k.cu" "#include \"inc/s.h\"\ncudaError_t shared() { return s(); }\n")
file(
  WRITE "${case_DIR}/shared/kernels/inc/s.h"
  "#include <cuda_runtime.h>\ninline cudaError_t s() { return cudaGetLastError(); }\n"
)
source(made.txt "#pragma once" "#include <cuda_runtime.h>" "inline cudaError_t made() { return cudaGetLastError(); }"
)
source(g.txt "#include \"../src/beside.h\"" "#include \"@SRC@/beside.h\"" "int g() { return beside(); }"
)
source(beside.h "#pragma once" "#include <cuda_runtime.h>" "inline cudaError_t beside() { return cudaGetLastError(); }"
)
configure(
  [[
set(SRC "${CMAKE_CURRENT_SOURCE_DIR}")
configure_file(g.txt g.in @ONLY)
file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/conf")
file(CONFIGURE OUTPUT conf/configured.h CONTENT "cudaError_t configured();\n" @ONLY)
add_custom_command(
  OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/g.cu"
  COMMAND "${CMAKE_COMMAND}" -E copy g.in g.cu
  DEPENDS "${CMAKE_CURRENT_BINARY_DIR}/g.in"
  VERBATIM
)
add_custom_command(
  OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/gen/made.h"
  COMMAND "${CMAKE_COMMAND}" -E copy "${CMAKE_CURRENT_SOURCE_DIR}/made.txt" gen/made.h
  DEPENDS made.txt
  VERBATIM
)
cudaops_add_kernels(k SHARED SOURCES k.cu g.cu ../shared/kernels/k.cu ../csrc/b.cu "${CMAKE_CURRENT_BINARY_DIR}/gen/made.h")
target_include_directories(k PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/gen" "${CMAKE_CURRENT_BINARY_DIR}/conf" ../shared)
]]
)
set(mirror "${case_BUILD_DIR}/k.hipified")
case_build()
file(READ "${mirror}/.generated/gen/made.h" text)
case_match("made.h" "${text}" "hipGetLastError")
expect_file("${mirror}/.generated/conf/configured.h" "hipError_t configured();\n")
file(READ "${mirror}/.elsewhere1/kernels/inc/s.h" text)
case_match("s.h" "${text}" "hipGetLastError")
file(READ "${mirror}/.elsewhere2/common/b.h" text)
case_match("b.h" "${text}" "hipGetLastError")
expect_file(
  "${mirror}/.generated/g.cu"
  "#include \"hip/hip_runtime.h\"\n#line 1\n#include \"../beside.h\"\n#include \"../beside.h\"\nint g() { return beside(); }\n"
)
case_build()
expect_commands()
source(made.txt "#pragma once" "#include <cuda_runtime.h>" "inline cudaError_t made() { return cudaSuccess; }"
)
case_build()
expect_commands("translate k.cu" "compile k.cu" "link libk.so")
file(READ "${mirror}/.generated/gen/made.h" text)
case_match("made.h" "${text}" "hipSuccess")
