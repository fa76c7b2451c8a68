# Every generated file of a seeded tree is, byte for byte, the file that CMake alone makes, at the first configure and at
# the second. What differs for a reason is taken out in common/equal.cmake, with the reason.
include("${case_SUITE}/common/equal.cmake")
seed_project("${case_DIR}/src" C CXX BODY "add_library(one SHARED one.cpp two.c)\nadd_executable(main main.c)")
expect_equal_trees("Ninja" "C;CXX" -G Ninja)
expect_equal_trees("Ninja Multi-Config" "C;CXX" -G "Ninja Multi-Config")
# By its own path: make calls itself by $(MAKE), which no Makefile quotes.
find_program(make make NO_CACHE)
expect_equal_trees(
  "Makefiles" "C;CXX" -G "Unix Makefiles" -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_MAKE_PROGRAM=${make}"
)
expect_equal_trees("flags" "C;CXX" -G Ninja -DCMAKE_CXX_FLAGS=-m64 "-DCMAKE_CXX_COMPILER=${case_CXX}" "-DCMAKE_NM=${case_TOOLS_DIR}/nm")
# The trees weren't only alike: such a tree builds.
case_build()
seed_project("${case_DIR}/src" CXX BODY "add_library(one STATIC one.cpp)")
expect_equal_trees("C++ only" "CXX" -G Ninja)
find_program(clang NAMES clang++ NO_CACHE)
if(clang)
  file(REAL_PATH "${clang}" clang)
  case_environment("CXX=${clang}")
  expect_equal_trees("clang" "CXX" -G Ninja)
endif()
