# find_package(CudaOps) alone: commands, no language, no flag, no search.
consumer(
  HEAD "set(CudaOps_ROOT [==[${case_REPO}]==])"
  BODY
    "get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)\nmessage(STATUS \"languages [\${languages}] flags [\${CMAKE_CXX_FLAGS}]\")
foreach(command add_torch_op cudaops_add_kernels cudaops_resolve_architectures cudaops_add_python_test)
  if(NOT COMMAND \${command})
    message(FATAL_ERROR \"no \${command}\")
  endif()
endforeach()"
)
case_match("stdout" "${case_STEP_STDOUT}" "-- languages .CXX. flags .. --")
case_not_match("stdout" "${case_STEP_STDOUT}" "torch|Python")
if(EXISTS "${case_BUILD_DIR}/cudaops-report.json")
  case_fail("a report without a match")
endif()
