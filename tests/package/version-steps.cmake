# The version file: a minor version before 1.0 is a series; the size of a pointer plays no part. There are no components.
foreach(
  request
  IN
  ITEMS 0.1 0.1.0 "0.1.0 EXACT" 0 "0.1...<0.2" "0.1...0.3"
)
  consumer(HEAD "set(CudaOps_ROOT [==[${case_REPO}]==])" FIND "${request} REQUIRED" BODY "")
endforeach()
foreach(
  request
  IN
  ITEMS 0.0.9 0.2 1 0.1.1 "0.0...<0.1" "0.0.1 EXACT"
)
  consumer(
    HEAD "set(CudaOps_ROOT [==[${case_REPO}]==])\nset(CMAKE_FIND_USE_SYSTEM_PACKAGE_REGISTRY OFF)"
    FIND "${request} QUIET" BODY "message(STATUS \"found [\${CudaOps_FOUND}]\")"
  )
  case_match("request for ${request}" "${case_STEP_STDOUT}" "-- found .0. --")
endforeach()
foreach(request IN ITEMS "0.1 QUIET COMPONENTS CUDA" "QUIET OPTIONAL_COMPONENTS CUDA")
  consumer(
    HEAD "set(CudaOps_ROOT [==[${case_REPO}]==])"
    FIND "${request}" BODY "message(STATUS \"found [\${CudaOps_FOUND}] \${CudaOps_NOT_FOUND_MESSAGE}\")"
  )
  if(request MATCHES "OPTIONAL")
    case_match("${request}" "${case_STEP_STDOUT}" "-- found .1. --")
  else()
    case_match(
      "${request}"
      "${case_STEP_STDOUT}"
      "-- found .0. it has no components.*COMPONENTS CUDA.* Fix: find_package.CudaOps REQUIRED.*CudaTorchMatch"
    )
  endif()
endforeach()
