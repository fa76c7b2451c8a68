# Calls ${call} = function;argument;… and prints what comes back.
cmake_minimum_required(VERSION 3.25)
include("${case_REPO}/cmake/detail/base/use.cmake")
_cudaops_use(search/provide)
list(POP_FRONT call function)
cmake_language(CALL "${function}" ${call} result)
message(STATUS "result [${result}]")
