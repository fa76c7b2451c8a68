# Languages that are enabled later, in other directories and after the project has set something; a project's own modules
# of these names; a build inside that gets our CMAKE_MODULE_PATH and nothing else.
counting_compiler("${case_DIR}/bin/c++" "${case_CXX}")
counting_compiler("${case_DIR}/bin/g++" "${case_CXX}")
case_environment("CXX=${case_DIR}/bin/c++")
seed_project("${case_DIR}/src" NONE BODY "add_subdirectory(sub)")
file(WRITE "${case_DIR}/src/sub/CMakeLists.txt" "enable_language(CXX)\nadd_library(one SHARED ../one.cpp)\n")
seed_configure("in a subdirectory" EXPECT CXX=KEPT)
seed_configure("in a subdirectory, again" EXPECT CXX=USED)
expect_cached(CMAKE_CXX_COMPILER "${case_DIR}/bin/c++")
file(
  WRITE "${case_DIR}/src/sub/CMakeLists.txt"
  "set(CMAKE_CXX_COMPILER \"${case_DIR}/bin/g++\")\nenable_language(CXX)\n"
)
seed_configure("another compiler is set" EXPECT CXX=KEPT)
case_match("the compiler" "${case_STEP_STDOUT}" "Seed: CXX is kept, ${case_DIR}/bin/g")
seed_configure("another compiler is set, again" EXPECT CXX=USED SAYS "as detected before, ${case_DIR}/bin/g")

file(WRITE "${case_DIR}/modules/CMakeDetermineCXXCompiler.cmake" "message(FATAL_ERROR \"the project's own module\")\n")
seed_project("${case_DIR}/own" CXX)
file(READ "${case_DIR}/own/CMakeLists.txt" text)
file(WRITE "${case_DIR}/own/CMakeLists.txt" "set(CMAKE_MODULE_PATH \"${case_DIR}/modules\")\n${text}")
seed_configure("the project's own module" PROJECT "${case_DIR}/own" RESULT 1)

seed_project("${case_DIR}/inner" CXX)
case_step(
  inner
  COMMAND
    "${case_CMAKE}" -S "${case_DIR}/inner" -B "${case_DIR}/inner/build" -G "${case_GENERATOR}"
    "-DCMAKE_MODULE_PATH=${case_REPO}/cmake/accelerate/seed"
)
case_match("inner" "${case_STEP_STDOUT}" "The CXX compiler identification is GNU|The CXX compiler identification is Clang")
