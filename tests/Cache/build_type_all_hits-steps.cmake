# An empty build type compiles ops as Release does, with -O3 and -DNDEBUG at other places of the command: what a developer's
# build has compiled is there for the wheel's.
use_cache(ccache)
host_kernels()
case_configure()
case_build()
expect_hits("an empty build type" 0 2)
case_configure(BUILD_DIR "${case_DIR}/release" ARGS -DCMAKE_BUILD_TYPE=Release)
case_build(BUILD_DIR "${case_DIR}/release")
expect_hits("Release" 2 0)
case_configure(BUILD_DIR "${case_DIR}/other" ARGS -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O3)
case_build(BUILD_DIR "${case_DIR}/other")
expect_hits("without NDEBUG" 0 2)
