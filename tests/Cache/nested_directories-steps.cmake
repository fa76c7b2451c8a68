# One include directory below another: a header that is found as <foo/config.h> could have been asked for as <config.h>,
# and that one lies in an earlier directory. Compiled once to see that it doesn't matter, then found again; and where it
# does matter, compiled.
use_cache(ccache)
host_kernels()
file(WRITE "${case_DIR}/src/inc/config.h" "#define VALUE 1\n")
file(WRITE "${case_DIR}/src/inc/foo/config.h" "#define VALUE 2\n")
file(WRITE "${case_DIR}/src/one.cpp" "#include <foo/config.h>\nint one() { return VALUE; }\n")
project_says(
  "cudaops_add_kernels(host SHARED SOURCES one.cpp two.cpp)
target_include_directories(host PRIVATE inc inc/foo)"
)
case_configure(ARGS -DCMAKE_BUILD_TYPE=Release)
case_build()
expect_one(miss 2)
expect_one(hit 2)
expect_one(hit 2)

# The same headers, and the other name.
file(REMOVE "${case_DIR}/src/inc/config.h")
file(WRITE "${case_DIR}/src/one.cpp" "#include <config.h>\nint one() { return VALUE; }\n")
case_build()
expect_one(hit 2)
file(WRITE "${case_DIR}/src/inc/config.h" "#define VALUE 3\n")
expect_one(miss 3)
expect_one(hit 3)
