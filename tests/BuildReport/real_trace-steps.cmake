# The real nvcc: memory, phases by architecture, a header's cost in seconds, the advice that names the line; a launcher
# of the user's stays in use.
needs_ninja()
real_machine()
if(NOT real_TORCH)
  return()
endif()
file(WRITE "${case_DIR}/launch" "#!/bin/sh\necho launched >> '${case_DIR}/launched'\nexec \"$@\"\n")
file(CHMOD "${case_DIR}/launch" PERMISSIONS OWNER_READ OWNER_EXECUTE OWNER_WRITE)
file(
  WRITE "${case_DIR}/src/kernel.cu"
  "#include <torch/headeronly/util/Half.h>\n\n#include <cub/cub.cuh>\n__global__ void k(int* x) {\n  using Reduce = cub::BlockReduce<int, 32>;\n  __shared__ Reduce::TempStorage storage;\n  x[threadIdx.x] = Reduce(storage).Sum(x[threadIdx.x]);\n}\n"
)
file(WRITE "${case_DIR}/src/plain.cpp" "int plain() { return 1; }\n")
configure(
  [[
cudaops_add_kernels(traced SOURCES kernel.cu plain.cpp)
target_link_libraries(traced PRIVATE CudaOps::torch_stable)
cudaops_target_build_trace(traced PHASES)
add_library(untraced OBJECT plain.cpp)
]]
  ARGS "-DCMAKE_CUDA_ARCHITECTURES=80-real;90-real" "-DCMAKE_CXX_COMPILER_LAUNCHER=${case_DIR}/launch"
)
case_build()
case_build(ARGS --target cudaops_build_report)
expect_stdout(" [0-9]\\. kernel\\.cu:3 includes cub/cub\\.cuh: [0-9]+ % of what the compiler reads for this file \\([0-9.]+ s\\); cub/block/block_reduce\\.cuh would do for cub::BlockReduce")
report_job(job kernel.cu)
report(value jobs "${job}" architectures)
string(REGEX REPLACE "[][\" \n]" "" value "${value}")
case_equal("architectures" "${value}" "sm_80,sm_90")
report(value jobs "${job}" phases)
case_match("phases" "${value}" "cicc")
foreach(architecture IN ITEMS 80 90)
  case_match("phases" "${value}" "\"architecture\" : \"sm_${architecture}\", \"phase\" : \"ptxas\", \"seconds\" : 0?\\.?[0-9]")
endforeach()
report(value jobs "${job}" peak_memory_bytes)
if(NOT value GREATER 50000000)
  case_fail("peak memory of kernel.cu" "${value}")
endif()
file(STRINGS "${case_DIR}/launched" launched ENCODING UTF-8)
list(LENGTH launched count)
case_equal("compiles through the user's launcher" "${count}" 3)

# Measured, by hand as by CUDAOPS_BUILD_TRACE=ON.
case_step(
  measure
  COMMAND "${case_PYTHON}" -I -S -B "${case_REPO}/python/cudaops/_run.py" build_report --measure-headers "${case_BUILD_DIR}"
)
expect_stdout(" [0-9]\\. kernel\\.cu:3 includes cub/cub\\.cuh: [0-9.]+ s of [0-9.]+ s; cub/block/block_reduce\\.cuh would do")
report(headers headers)
case_match("cost of cub.cuh" "${headers}" "\"header\" : \"cub/cub\\.cuh\".*\"seconds\" : [0-9.]+, \"seconds_each\" : { \"CUDA\" : [0-9]")
