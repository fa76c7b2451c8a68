# cudaops_add_benchmark(): every argument that can be wrong.
machine(CPU)
set(program_COMMAND cudaops_add_benchmark)
include("${case_SUITE}/common/misuse_program.cmake")

misuse(
  [[cudaops_add_benchmark(t SOURCES op.cpp)]]
  [[
cudaops_add_benchmark(t): Google Benchmark was not found.
  looked find_package(benchmark): benchmarkConfig.cmake
 Fix: apt-get install libbenchmark-dev (or vcpkg, conan, conda: benchmark) or -DCUDAOPS_PROVIDE=BENCHMARK (CMake fetches it)
]]
)
