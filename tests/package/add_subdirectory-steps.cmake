# add_subdirectory, then find_package as everywhere.
consumer(HEAD "add_subdirectory([==[${case_REPO}]==] cudaops)")
expect_consumer("/build/CMakeFiles/pkgRedirects$")
# The consumer's installation holds nothing of the package.
case_step(install COMMAND "${case_CMAKE}" --install "${case_BUILD_DIR}" --prefix "${case_DIR}/prefix")
file(GLOB_RECURSE installed "${case_DIR}/prefix/*")
case_equal("installed" "${installed}" "")
