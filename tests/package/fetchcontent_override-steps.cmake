# FetchContent with OVERRIDE_FIND_PACKAGE: find_package alone brings it in.
consumer(
  HEAD "include(FetchContent)\nFetchContent_Declare(CudaOps SOURCE_DIR [==[${case_REPO}]==] OVERRIDE_FIND_PACKAGE)"
)
expect_consumer("/build/CMakeFiles/pkgRedirects$")
