# cudaops_add_benchmark(): every argument that can be wrong.
machine(CPU)
set(commands_USAGE "cudaops_add_benchmark(<name> SOURCES <file>... [LINK_LIBRARIES <target>...])")

misuse(
  [[cudaops_add_benchmark()]]
  [[
cudaops_add_benchmark(): the first argument is the name of the target.
  found ''
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_benchmark(SOURCES op.cpp)]]
  [[
cudaops_add_benchmark(): the first argument is the name of the target.
  found 'SOURCES'
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_benchmark(t OPTIONS)]]
  [[
cudaops_add_benchmark(t): unknown argument 'OPTIONS': compile options go to target_compile_options().
 Fix: target_compile_options(t PRIVATE <option>)
]]
)

misuse(
  [[add_executable(t op.cpp)
cudaops_add_benchmark(t SOURCES op.cpp)]]
  [[
cudaops_add_benchmark(t): there is a target of this name already.
  found t, made in <case>/src
 Fix: another name: it is the name of the file too
]]
)

misuse(
  [[cudaops_add_benchmark("" SOURCES op.cpp)]]
  [[
cudaops_add_benchmark(): the first argument is the name of the target.
  found ''
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_benchmark(t)]]
  [[
cudaops_add_benchmark(t): SOURCES is missing.
  wanted at least one file
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_benchmark(t op.cpp)]]
  [[
cudaops_add_benchmark(t): unknown argument 'op.cpp'.
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_benchmark(t SOURCES)]]
  [[
cudaops_add_benchmark(t): SOURCES needs a value.
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_benchmark(t SOURCES "")]]
  [[
cudaops_add_benchmark(t): SOURCES needs a value.
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_benchmark(t SOURCES missing.cpp)]]
  [[
cudaops_add_benchmark(t): SOURCES names a file that doesn't exist.
  found missing.cpp
  looked <case>/src/missing.cpp
 Fix: the right name, or add the command that generates it before this call (its OUTPUT counts)
]]
)

misuse(
  [[cudaops_add_benchmark(t SOURCES op.cpp LINK_LIBRARY k)]]
  [[
cudaops_add_benchmark(t): SOURCES holds 'LINK_LIBRARY', which is no file; did you mean LINK_LIBRARIES?
  looked <case>/src/LINK_LIBRARY
  wanted a file, or one of SOURCES LINK_LIBRARIES
 Fix: LINK_LIBRARIES (instead of LINK_LIBRARY)
]]
)

misuse(
  [[cudaops_add_benchmark(t SOURCES op.cpp LIBRARIES k)]]
  [[
cudaops_add_benchmark(t): SOURCES holds 'LIBRARIES', which is no file; did you mean LINK_LIBRARIES?
  looked <case>/src/LIBRARIES
  wanted a file, or one of SOURCES LINK_LIBRARIES
 Fix: LINK_LIBRARIES (instead of LIBRARIES)
]]
)

misuse(
  [[cudaops_add_benchmark(t SOURCES op.cpp link_libraries k)]]
  [[
cudaops_add_benchmark(t): SOURCES holds 'link_libraries', which is no file; did you mean LINK_LIBRARIES?
  looked <case>/src/link_libraries
  wanted a file, or one of SOURCES LINK_LIBRARIES
 Fix: LINK_LIBRARIES (instead of link_libraries)
]]
)

misuse(
  [[cudaops_add_benchmark(t LINK_LIBRARIES k)]]
  [[
cudaops_add_benchmark(t): SOURCES is missing.
  wanted at least one file
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_benchmark(t SOURCES op.cu)]]
  [[
cudaops_add_benchmark(t): without CUDA nothing is left of SOURCES.
  found op.cu
 Fix: put main parts into a .cpp, and the .cu into cudaops_add_kernels()
]]
)

misuse(
  [[cudaops_add_benchmark(t SOURCES op.h)]]
  [[
cudaops_add_benchmark(t): SOURCES holds headers only.
  found op.h
 Fix: add the .cpp or .cu files that include them
]]
)

misuse(
  [[cudaops_add_benchmark(t SOURCES op.cpp)]]
  [[
cudaops_add_benchmark(t): Google Benchmark was not found.
  looked find_package(benchmark): benchmarkConfig.cmake
 Fix: apt-get install libbenchmark-dev (or vcpkg, conan, conda: benchmark) or -DCUDAOPS_PROVIDE=BENCHMARK (CMake fetches it)
]]
)

misuse(
  [[cudaops_add_benchmark(all SOURCES op.cpp)]]
  [[
cudaops_add_benchmark(all): this name belongs to a target of CMake's own.
  found 'all'
 Fix: another name: my_all, or the like
]]
)

misuse(
  [[cudaops_add_benchmark(t SOURCES op.cpp)]]
  [[
cudaops_add_benchmark(t): no torch and no toolkit have been looked for yet.
  wanted find_package(CudaTorchMatch) before this call, in the top-level CMakeLists.txt
 Fix: find_package(CudaTorchMatch REQUIRED)
]]
  NO_MATCH
)
