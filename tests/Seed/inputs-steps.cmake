# Flags, variables, environment: each makes a detection of its own, and the first one is found again afterwards.
counting_compiler("${case_DIR}/bin/c++" "${case_CXX}")
case_environment("CXX=${case_DIR}/bin/c++")
seed_project("${case_DIR}/src" CXX)
seed_configure("empty store" EXPECT CXX=KEPT)
foreach(
  argument
  IN
  ITEMS
    -DCMAKE_CXX_FLAGS=-m64
    -DCMAKE_CXX_FLAGS_INIT=-m64
    -DCMAKE_CXX_STANDARD=20
    -DCMAKE_EXE_LINKER_FLAGS=-Wl,-O1
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON
    -DCMAKE_TRY_COMPILE_CONFIGURATION=Release
    -DCMAKE_AR=/usr/bin/true
    -DCMAKE_UNHEARD_OF=1
    -DCMAKE_POLICY_DEFAULT_CMP0056=OLD
)
  seed_configure("${argument}" EXPECT CXX=KEPT ARGS ${argument})
endforeach()
seed_configure("flags again" EXPECT CXX=USED ARGS -DCMAKE_CXX_FLAGS=-m64)
expect_cached(CMAKE_CXX_FLAGS -m64)
foreach(
  pair
  IN
  ITEMS
    CXXFLAGS=-m64
    LDFLAGS=-Wl,-O1
    CPATH=/nowhere
    CPLUS_INCLUDE_PATH=/nowhere
    LIBRARY_PATH=/nowhere
    GCC_EXEC_PREFIX=/nowhere/
    LD_LIBRARY_PATH=/nowhere
)
  string(REGEX REPLACE "=.*" "" name "${pair}")
  if(name STREQUAL "GCC_EXEC_PREFIX")
    # With this one gcc works no more, unless it is a link's target: the detection decides, not the store.
    continue()
  endif()
  case_environment("${pair}")
  seed_configure("${pair}" EXPECT CXX=KEPT)
  seed_configure("${pair} again" EXPECT CXX=USED)
  case_environment(UNSET ${name})
endforeach()
seed_configure("none of them" EXPECT CXX=USED)

# A directory that is named and isn't there is passed over by the compiler, until it is there.
foreach(pair IN ITEMS "CPATH=<dir>" "LIBRARY_PATH=/usr/lib:<dir>" "CXXFLAGS=-isystem <dir>" "LDFLAGS=-L<dir>")
  string(REGEX REPLACE "=.*" "" name "${pair}")
  if(name MATCHES "FLAGS" AND case_DIR MATCHES " ")
    # Flags are words.
    continue()
  endif()
  string(REPLACE "<dir>" "${case_DIR}/later/${name}" pair "${pair}")
  case_environment("${pair}")
  seed_configure("${pair}, not there" EXPECT CXX=KEPT)
  seed_configure("${pair}, still not there" EXPECT CXX=USED)
  file(MAKE_DIRECTORY "${case_DIR}/later/${name}")
  seed_configure("${pair}, there" EXPECT CXX=KEPT SAYS "later/${name} wasn't there")
  case_environment(UNSET ${name})
endforeach()

# The project's own words before project().
file(READ "${case_DIR}/src/CMakeLists.txt" text)
file(WRITE "${case_DIR}/flags/CMakeLists.txt" "set(CMAKE_CXX_FLAGS -m64)\n${text}")
seed_configure("set() before project()" EXPECT CXX=KEPT PROJECT "${case_DIR}/flags")
string(REPLACE "3.25" "3.10" text "${text}")
file(WRITE "${case_DIR}/policies/CMakeLists.txt" "${text}")
seed_configure("older policies" EXPECT CXX=KEPT PROJECT "${case_DIR}/policies" ARGS -Wno-deprecated)
seed_configure("older policies, again" EXPECT CXX=USED PROJECT "${case_DIR}/policies" ARGS -Wno-deprecated)

# A toolchain file that sets variables counts with its path and content.
file(WRITE "${case_DIR}/toolchain.cmake" "set(CMAKE_CXX_FLAGS_INIT -m64)\n")
seed_configure("toolchain" EXPECT CXX=KEPT ARGS "-DCMAKE_TOOLCHAIN_FILE=${case_DIR}/toolchain.cmake")
seed_configure("toolchain again" EXPECT CXX=USED ARGS "-DCMAKE_TOOLCHAIN_FILE=${case_DIR}/toolchain.cmake")
expect_cached(CMAKE_CXX_FLAGS -m64)
file(WRITE "${case_DIR}/toolchain.cmake" "set(CMAKE_CXX_FLAGS_INIT -m64)\n# other words\n")
seed_configure("toolchain changed" EXPECT CXX=KEPT ARGS "-DCMAKE_TOOLCHAIN_FILE=${case_DIR}/toolchain.cmake")
