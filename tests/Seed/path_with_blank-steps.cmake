# A blank in the compiler's path is no argument: CMake takes the whole for a path where there is such a file.
counting_compiler("${case_DIR}/a compiler/c++" "${case_CXX}")
seed_project("${case_DIR}/src" CXX BODY "add_library(one SHARED one.cpp)")
case_environment("CXX=${case_DIR}/a compiler/c++")
seed_configure("empty store" EXPECT CXX=KEPT)
seed_configure("again" EXPECT CXX=USED)
expect_cached(CMAKE_CXX_COMPILER "${case_DIR}/a compiler/c++")
case_build()
