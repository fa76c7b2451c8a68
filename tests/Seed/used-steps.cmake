# The second fresh build directory takes the detection of the first, whatever its project and build type; both build.
counting_compiler("${case_DIR}/bin/c++" "${case_CXX}")
case_environment(UNSET CXX)
case_path("${case_DIR}/bin")
seed_project("${case_DIR}/src" CXX BODY "add_library(one SHARED one.cpp)")
seed_configure("empty store" EXPECT CXX=KEPT)
expect_cached(CMAKE_CXX_COMPILER "${case_DIR}/bin/c++")
expect_seeds(1)
seed_configure("again" EXPECT CXX=USED)
expect_cached(CMAKE_CXX_COMPILER "${case_DIR}/bin/c++")
expect_cached(CMAKE_PLATFORM_INFO_INITIALIZED 1)
case_build()
case_build()
case_match("a second build" "${case_STEP_STDOUT}" "no work to do|Built target one")
case_not_match("a second build" "${case_STEP_STDOUT}" "Re-running CMake|Building")

seed_project("${case_DIR}/other" CXX BODY "add_executable(other one.cpp)\nset_target_properties(other PROPERTIES EXCLUDE_FROM_ALL ON)")
seed_configure(
  "another project"
  EXPECT CXX=USED
  PROJECT "${case_DIR}/other"
  BUILD "${case_DIR}/build2"
  ARGS -DCMAKE_BUILD_TYPE=Debug -DCMAKE_INSTALL_PREFIX=/nowhere
)
expect_seeds(1)

# Another configure of the same tree is CMake's own business.
case_step(again COMMAND "${case_CMAKE}" --log-level=VERBOSE "${case_DIR}/build")
case_not_match("a second configure" "${case_STEP_STDOUT}" "Seed:|compiler identification")

# C before C++ makes its own entries: CMake looks for the second compiler beside the first.
seed_project("${case_DIR}/both" C CXX BODY "add_library(both STATIC one.cpp two.c)")
seed_configure("C and C++" EXPECT C=KEPT CXX=KEPT PROJECT "${case_DIR}/both")
seed_configure("C and C++ again" EXPECT C=USED CXX=USED PROJECT "${case_DIR}/both")
case_build()

# No language, no work.
seed_project("${case_DIR}/none" NONE)
seed_configure("no language" PROJECT "${case_DIR}/none")
case_not_match("no language" "${case_STEP_STDOUT}" "Seed:")
