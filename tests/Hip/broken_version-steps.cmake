# The header says no version, and the project's own variables are no substitute.
hip_machine()
file(WRITE "${case_DIR}/rocm/include/hip/hip_version.h" "#pragma once\n")
match(ARGS ${hip_ARGS} BEFORE "set(MAJOR 6)\nset(MINOR 4)\nset(PATCH 0)")
