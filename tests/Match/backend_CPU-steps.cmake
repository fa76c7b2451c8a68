# CUDAOPS_BACKEND=CPU: off, as requested, with the verdict; on request no nvcc is asked what it is.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CUDA 13.0)
fake_toolkit("${case_DIR}/cuda" VERSION 13.0)
set(nvcc "${case_DIR}/cuda/bin/nvcc")
file(RENAME "${nvcc}" "${nvcc}.own")
file(WRITE "${nvcc}" "#!/bin/sh\necho >>'${case_DIR}/asked'\nexec '${nvcc}.own' \"$@\"\n")
file(CHMOD "${nvcc}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
match(
  ARGS
    "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python"
    "-DCUDAToolkit_ROOT=${case_DIR}/cuda"
    -DCUDAOPS_BACKEND=CPU
    -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON
)
expect_match(FOUND TRUE VERDICT NO_TOOLKIT REASON_CODE REQUESTED_OFF CUDA_ENABLED FALSE languages CXX)
case_report_equal("" toolkit root)
if(EXISTS "${case_DIR}/asked")
  case_fail("nvcc was asked")
endif()

match(ARGS -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=OFF)
expect_match(FOUND TRUE VERDICT EXACT REASON_CODE REQUESTED_OFF CUDA_ENABLED FALSE languages CXX)
if(NOT EXISTS "${case_DIR}/asked")
  case_fail("nvcc was not asked")
endif()

match(ARGS -DCUDAOPS_BACKEND=AUTO)
expect_match(CUDA_ENABLED TRUE VERDICT EXACT)
