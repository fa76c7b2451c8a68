# Where all fit alike, the order counts: ROCM_PATH, ROCM_HOME, HIP_PATH, then hipcc on PATH, then conda.
foreach(
  name
  IN
  ITEMS ROCM_PATH ROCM_HOME HIP_PATH PATH conda
)
  fake_rocm("${case_DIR}/${name}" VERSION 6.4)
endforeach()
fake_torch("${case_DIR}/venv" VERSION 2.13.0 ROCM 6.4)
case_environment(
  "ROCM_PATH=${case_DIR}/ROCM_PATH"
  "ROCM_HOME=${case_DIR}/ROCM_HOME"
  "HIP_PATH=${case_DIR}/HIP_PATH/hip"
  "CONDA_PREFIX=${case_DIR}/conda"
)
# Before ROCm 5.2 HIP had a directory of its own.
file(MAKE_DIRECTORY "${case_DIR}/HIP_PATH/hip")
case_path("${case_DIR}/PATH/bin")
foreach(
  pair
  IN
  ITEMS
    "ROCM_PATH|environment ROCM_PATH"
    "ROCM_HOME|environment ROCM_HOME"
    "HIP_PATH|environment HIP_PATH"
    "PATH|PATH"
    "conda|environment of Python"
)
  string(REGEX MATCH "^([^|]+)\\|(.+)$" matched "${pair}")
  set(name "${CMAKE_MATCH_1}")
  set(source "${CMAKE_MATCH_2}")
  file(REMOVE_RECURSE "${case_BUILD_DIR}")
  match(ARGS ${hip_TORCH} ${hip_ARCH})
  expect_match(VERDICT EXACT ROCM_ROOT "${case_DIR}/${name}")
  case_report_equal("${source}" rocm source)
  if(name STREQUAL "PATH")
    case_environment("PATH=${case_TOOLS_DIR}")
  else()
    case_environment(UNSET ${name})
  endif()
endforeach()
