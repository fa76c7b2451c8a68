# Brought in by one directory, found by another.
file(WRITE "${case_PROJECT_DIR}/third_party/CMakeLists.txt" "add_subdirectory([==[${case_REPO}]==] cudaops)\n")
consumer(HEAD "add_subdirectory(third_party)")
expect_consumer("/build/CMakeFiles/pkgRedirects$")
