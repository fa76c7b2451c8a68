# CMAKE_HIP_COMPILER names nothing.
hip_machine()
match(ARGS ${hip_ARGS} "-DCMAKE_HIP_COMPILER=${case_DIR}/nowhere/clang++")
