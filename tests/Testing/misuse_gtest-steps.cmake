# cudaops_add_gtest(): every argument that can be wrong.
machine(CPU)
set(commands_USAGE "cudaops_add_gtest(<name> SOURCES <file>... [LINK_LIBRARIES <target>...])")

misuse(
  [[cudaops_add_gtest()]]
  [[
cudaops_add_gtest(): the first argument is the name of the target.
  found ''
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_gtest(SOURCES op.cpp)]]
  [[
cudaops_add_gtest(): the first argument is the name of the target.
  found 'SOURCES'
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_gtest(t OPTIONS)]]
  [[
cudaops_add_gtest(t): unknown argument 'OPTIONS': compile options go to target_compile_options().
 Fix: target_compile_options(t PRIVATE <option>)
]]
)

misuse(
  [[add_executable(t op.cpp)
cudaops_add_gtest(t SOURCES op.cpp)]]
  [[
cudaops_add_gtest(t): there is a target of this name already.
  found t, made in <case>/src
 Fix: another name: it is the name of the file too
]]
)

misuse(
  [[cudaops_add_gtest("" SOURCES op.cpp)]]
  [[
cudaops_add_gtest(): the first argument is the name of the target.
  found ''
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_gtest(t)]]
  [[
cudaops_add_gtest(t): SOURCES is missing.
  wanted at least one file
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_gtest(t op.cpp)]]
  [[
cudaops_add_gtest(t): unknown argument 'op.cpp'.
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_gtest(t SOURCES)]]
  [[
cudaops_add_gtest(t): SOURCES needs a value.
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_gtest(t SOURCES "")]]
  [[
cudaops_add_gtest(t): SOURCES needs a value.
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_gtest(t SOURCES missing.cpp)]]
  [[
cudaops_add_gtest(t): SOURCES names a file that doesn't exist.
  found missing.cpp
  looked <case>/src/missing.cpp
 Fix: the right name, or add the command that generates it before this call (its OUTPUT counts)
]]
)

misuse(
  [[cudaops_add_gtest(t SOURCES op.cpp LINK_LIBRARY k)]]
  [[
cudaops_add_gtest(t): SOURCES holds 'LINK_LIBRARY', which is no file; did you mean LINK_LIBRARIES?
  looked <case>/src/LINK_LIBRARY
  wanted a file, or one of SOURCES LINK_LIBRARIES
 Fix: LINK_LIBRARIES (instead of LINK_LIBRARY)
]]
)

misuse(
  [[cudaops_add_gtest(t SOURCES op.cpp LIBRARIES k)]]
  [[
cudaops_add_gtest(t): SOURCES holds 'LIBRARIES', which is no file; did you mean LINK_LIBRARIES?
  looked <case>/src/LIBRARIES
  wanted a file, or one of SOURCES LINK_LIBRARIES
 Fix: LINK_LIBRARIES (instead of LIBRARIES)
]]
)

misuse(
  [[cudaops_add_gtest(t SOURCES op.cpp link_libraries k)]]
  [[
cudaops_add_gtest(t): SOURCES holds 'link_libraries', which is no file; did you mean LINK_LIBRARIES?
  looked <case>/src/link_libraries
  wanted a file, or one of SOURCES LINK_LIBRARIES
 Fix: LINK_LIBRARIES (instead of link_libraries)
]]
)

misuse(
  [[cudaops_add_gtest(t LINK_LIBRARIES k)]]
  [[
cudaops_add_gtest(t): SOURCES is missing.
  wanted at least one file
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_gtest(t SOURCES op.cu)]]
  [[
cudaops_add_gtest(t): without CUDA nothing is left of SOURCES.
  found op.cu
 Fix: put main parts into a .cpp, and the .cu into cudaops_add_kernels()
]]
)

misuse(
  [[cudaops_add_gtest(t SOURCES op.h)]]
  [[
cudaops_add_gtest(t): SOURCES holds headers only.
  found op.h
 Fix: add the .cpp or .cu files that include them
]]
)

misuse(
  [[cudaops_add_gtest(t SOURCES op.cpp)]]
  [[
cudaops_add_gtest(t): GoogleTest was not found.
  looked find_package(GTest): GTestConfig.cmake, libgtest
 Fix: apt-get install libgtest-dev (or vcpkg, conan, conda: gtest) or -DCUDAOPS_PROVIDE=GTEST (CMake fetches it)
]]
)

misuse(
  [[cudaops_add_gtest(all SOURCES op.cpp)]]
  [[
cudaops_add_gtest(all): this name belongs to a target of CMake's own.
  found 'all'
 Fix: another name: my_all, or the like
]]
)

misuse(
  [[cudaops_add_gtest(t SOURCES op.cpp)]]
  [[
cudaops_add_gtest(t): no torch and no toolkit have been looked for yet.
  wanted find_package(CudaTorchMatch) before this call, in the top-level CMakeLists.txt
 Fix: find_package(CudaTorchMatch REQUIRED)
]]
  NO_MATCH
)
