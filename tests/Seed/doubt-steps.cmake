# What isn't understood is detected, is not kept, and works.
seed_project("${case_DIR}/src" CXX)
file(MAKE_DIRECTORY "${case_DIR}/bin" "${case_DIR}/modules/Platform")

counting_compiler("${case_DIR}/masquerade/ccache" "${case_CXX}")
file(CREATE_LINK "${case_DIR}/masquerade/ccache" "${case_DIR}/masquerade/c++" SYMBOLIC)
case_environment("CXX=${case_DIR}/masquerade/c++")
seed_configure("a link to ccache" EXPECT CXX=DETECTED SAYS "is ccache, which looks for the compiler itself")

foreach(line IN ITEMS "eval :" ". /dev/null" "x=\${!y}" "printenv >/dev/null")
  counting_compiler("${case_DIR}/bin/c++" "${case_CXX}" "true || { ${line}; }")
  if(line MATCHES "!")
    counting_compiler("${case_DIR}/bin/c++" "${case_CXX}" "# ${line}"
    )
  endif()
  case_environment("CXX=${case_DIR}/bin/c++")
  seed_configure("script with ${line}" EXPECT CXX=DETECTED SAYS "a script that doesn't show what it depends on")
endforeach()
counting_compiler("${case_DIR}/bin/inner" "${case_CXX}")
counting_compiler("${case_DIR}/bin/c++" "${case_DIR}/bin/inner")
seed_configure("a script that calls a script" EXPECT CXX=DETECTED SAYS "calls the script ${case_DIR}/bin/inner")

counting_compiler("${case_DIR}/bin/a b" "${case_CXX}")
counting_compiler("${case_DIR}/bin/c++" "${case_DIR}/bin/a b")
seed_configure("the same, with a blank" EXPECT CXX=DETECTED SAYS "calls the script ${case_DIR}/bin/a b")
counting_compiler("${case_DIR}/bin/c++" g++)
seed_configure("a script that leaves it to PATH" EXPECT CXX=DETECTED SAYS "looks for the compiler on PATH")

counting_compiler("${case_DIR}/bin/c++" "${case_CXX}")
# By its name: CMake takes arguments of no compiler whose path holds a blank, as ours may.
case_path("${case_DIR}/bin")
case_environment("CXX=c++ -m64")
seed_configure("arguments in CXX" EXPECT CXX=DETECTED SAYS "given with arguments")
case_environment("CXX=${case_DIR}/bin/c++")
seed_configure("cross-compiling" EXPECT CXX=DETECTED SAYS "cross-compiling" ARGS -DCMAKE_SYSTEM_NAME=Linux)
seed_configure(
  "rules of the project's own"
  EXPECT CXX=DETECTED
  SAYS "CMAKE_USER_MAKE_RULES_OVERRIDE is set"
  ARGS -DCMAKE_USER_MAKE_RULES_OVERRIDE=CMakeCommonLanguageInclude
)
seed_configure(
  "modules of the project's own"
  EXPECT CXX=DETECTED
  SAYS "replaces modules of CMake"
  ARGS "-DCMAKE_MODULE_PATH=${case_DIR}/modules"
)
file(WRITE "${case_DIR}/flags.cmake" "set(CMAKE_CXX_FLAGS_INIT -m64)\n")
file(WRITE "${case_DIR}/toolchain.cmake" "include(\"\${CMAKE_CURRENT_LIST_DIR}/flags.cmake\")\n")
seed_configure(
  "toolchain file that includes another"
  EXPECT CXX=DETECTED
  SAYS "does more than set variables"
  ARGS "-DCMAKE_TOOLCHAIN_FILE=${case_DIR}/toolchain.cmake"
)
expect_cached(CMAKE_CXX_FLAGS -m64)
# Flags are words.
if(NOT case_DIR MATCHES " ")
  foreach(flags IN ITEMS "@${case_DIR}/flags.txt" "-include ${case_DIR}/flags.txt")
    file(WRITE "${case_DIR}/flags.txt" "")
    seed_configure("a file in the flags" EXPECT CXX=DETECTED SAYS "the flags name files" ARGS "-DCMAKE_CXX_FLAGS=${flags}")
  endforeach()
  case_environment("CXXFLAGS=@${case_DIR}/flags.txt")
  seed_configure("a file in the flags of the environment" EXPECT CXX=DETECTED SAYS "the flags name files")
endif()
if(EXISTS "${case_DIR}/store/seeds")
  case_fail("something was kept")
endif()
