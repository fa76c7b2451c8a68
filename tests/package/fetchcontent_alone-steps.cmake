# FetchContent brings the package, and the project's first call is find_package(CudaTorchMatch), which is enough where
# FIND_PACKAGE_ARGS has found an installed package.
foreach(run IN ITEMS first again)
  consumer(
    HEAD
      "include(FetchContent)
FetchContent_Declare(CudaOps SOURCE_DIR [==[${case_REPO}]==] FIND_PACKAGE_ARGS 0.1 CONFIG)
FetchContent_MakeAvailable(CudaOps)
find_package(CudaTorchMatch 2.13...<2.14 REQUIRED)
add_torch_op(package_op SOURCES op.cpp)
if(NOT CudaTorchMatch_FOUND OR NOT CudaTorchMatch_TORCH_VERSION STREQUAL \"2.13.0+cpu\")
  message(FATAL_ERROR \"torch: \${CudaTorchMatch_TORCH_VERSION}\")
endif()"
    BODY "# find_package(CudaOps) comes last"
  )
endforeach()
expect_consumer("/build/CMakeFiles/pkgRedirects$")
# The version request is torch's, which the module compares.
consumer(
  HEAD
    "add_subdirectory([==[${case_REPO}]==] cudaops)
find_package(CudaTorchMatch 2.14 QUIET)
if(CudaTorchMatch_FOUND)
  message(FATAL_ERROR \"torch: \${CudaTorchMatch_TORCH_VERSION}\")
endif()"
  BODY "# nothing more"
)
consumer(
  HEAD
    "add_subdirectory([==[${case_REPO}]==] cudaops)
find_package(CudaTorchMatch 2.13.0 EXACT REQUIRED)"
  BODY "# nothing more"
)
