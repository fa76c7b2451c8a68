# CMAKE_HIP_COMPILER is a compiler, but no clang.
hip_machine()
file(WRITE "${case_DIR}/bin/clang++" "#!/bin/sh\nexec '${case_CXX}' \"$@\"\n")
file(CHMOD "${case_DIR}/bin/clang++" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
file(COPY "${case_DIR}/rocm/include" DESTINATION "${case_DIR}")
match(ARGS ${hip_TORCH} ${hip_ARCH} "-DCMAKE_HIP_COMPILER=${case_DIR}/bin/clang++")
