# A store that can't be written costs nothing and says nothing; one that can't be read either.
counting_compiler("${case_DIR}/bin/c++" "${case_CXX}")
case_environment("CXX=${case_DIR}/bin/c++")
seed_project("${case_DIR}/src" CXX)
file(WRITE "${case_DIR}/file" "a file\n")
file(WRITE "${case_DIR}/half/seeds" "a file\n")
# Root writes everywhere else.
foreach(store IN ITEMS "${case_DIR}/file" "${case_DIR}/half" /proc/nowhere /dev/null)
  case_environment("CUDAOPS_STORE=${store}")
  seed_configure("${store}" EXPECT CXX=DETECTED SAYS "can't be written")
  case_step(
    "${store}, quietly"
    COMMAND
      "${case_CMAKE}" -S "${case_DIR}/src" -B "${case_DIR}/quiet" -G "${case_GENERATOR}" --fresh
      "-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=${seed_MODULE}"
  )
  case_not_match("${store}, quietly" "${case_STEP_STDOUT}" "Seed:|can't be written")
endforeach()
file(READ "${case_DIR}/file" text)
case_equal("what was in place of the store" "${text}" "a file\n")

# Full: there is a directory, but nothing fits.
case_environment("CUDAOPS_STORE=${case_DIR}/store")
seed_configure("empty store" EXPECT CXX=KEPT)
file(GLOB entry "${case_DIR}/store/seeds/*")
file(REMOVE "${entry}")
file(MAKE_DIRECTORY "${entry}/in/the/way")
seed_configure("a directory in place of the entry" EXPECT CXX=DETECTED)
if(NOT IS_DIRECTORY "${entry}/in/the/way")
  case_fail("what wasn't ours was removed")
endif()
