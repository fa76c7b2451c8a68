# add_subdirectory, then find_package as everywhere.
consumer(HEAD "add_subdirectory([==[${case_REPO}]==] cudaops)")
expect_consumer("/build/CMakeFiles/pkgRedirects$")
