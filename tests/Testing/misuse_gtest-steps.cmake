# cudaops_add_gtest(): every argument that can be wrong.
machine(CPU)
set(program_COMMAND cudaops_add_gtest)
include("${case_SUITE}/common/misuse_program.cmake")

misuse(
  [[cudaops_add_gtest(t SOURCES op.cpp)]]
  [[
cudaops_add_gtest(t): GoogleTest was not found.
  looked find_package(GTest): GTestConfig.cmake, libgtest
 Fix: apt-get install libgtest-dev (or vcpkg, conan, conda: gtest) or -DCUDAOPS_PROVIDE=GTEST (CMake fetches it)
]]
)
