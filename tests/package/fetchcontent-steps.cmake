# FetchContent without OVERRIDE_FIND_PACKAGE.
consumer(
  HEAD
    "include(FetchContent)\nFetchContent_Declare(CudaOps SOURCE_DIR [==[${case_REPO}]==])\nFetchContent_MakeAvailable(CudaOps)"
)
expect_consumer("/build/CMakeFiles/pkgRedirects$")
