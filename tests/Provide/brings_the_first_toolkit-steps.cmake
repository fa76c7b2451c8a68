# A machine without any toolkit: the one that is brought is used in the same configure step, and found in the next.
include("${case_TESTS_DIR}/fixtures/match.cmake")
use_fake_uv()
fake_torch("${case_DIR}/venv" VERSION 2.15.0 CUDA 13.2)
fake_toolkit("${case_DIR}/wheels" VERSION 13.2 LAYOUT PIP)
foreach(source IN ITEMS "CUDAOPS_PROVIDE=TOOLKIT" store)
  file(REMOVE_RECURSE "${case_BUILD_DIR}")
  match(ARGS "-DPython_EXECUTABLE=${case_DIR}/venv/bin/python" -DCUDAOPS_PROVIDE=TOOLKIT)
  expect_match(
    VERDICT EXACT
    CUDA_ENABLED TRUE
    TOOLKIT_ROOT "${case_DIR}/store/toolkits/13.2.2/nvidia/cu13"
  )
  refuse_stdout("toolkits found")
  expect_candidate(0 13.2.78 "${source}" EXACT)
  expect_calls(1)
endforeach()
