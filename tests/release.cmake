# SPDX-License-Identifier: Apache-2.0
# A script with another release of torch: the Python tests of the reference library (one library, built here, serves all
# releases), the slice of fast headers' cases.
#
#   cmake -Drepo=<checkout> -Dversion=<torch> -Dscript=<file> -Dtests=<argument>... -P release.cmake
#
# A torch that the store doesn't have is brought where CUDAOPS_TEST_LONG=1 or CUDAOPS_TEST_RELEASES (a list) asks for it
# in the environment: some 3 GB each.

cmake_minimum_required(VERSION 3.25)
include("${repo}/cmake/detail/base/use.cmake")
_cudaops_use(search/provide)

_cudaops_provided(torch directories VERSION "${version}")
if(NOT directories)
  string(REGEX MATCHALL "[^ ;,]+" asked "$ENV{CUDAOPS_TEST_RELEASES}")
  if(NOT version IN_LIST asked AND NOT "$ENV{CUDAOPS_TEST_LONG}")
    message(
      "SKIPPED: torch ${version} is not in the store (CUDAOPS_TEST_RELEASES=${version} in the environment brings it)"
    )
    return()
  endif()
  set(CUDAOPS_TORCH_VERSION "${version}")
  _cudaops_provide_torch(python)
else()
  list(GET directories 0 directory)
  set(python "${directory}/bin/python")
endif()
execute_process(COMMAND "${python}" "${script}" ${tests} COMMAND_ERROR_IS_FATAL ANY)
