# All lessons in one build, and one of them alone; what needs a GPU says SKIPPED without one.
if(NOT example_CUDA)
  case_skip("the lessons are about CUDA, which this build has not")
  return()
endif()
example_begin(lessons)
example_configure(sm90)
if("${case_STEP_STDERR}" MATCHES "Google Benchmark was not found")
  case_skip("${CMAKE_MATCH_0}")
  return()
endif()
if(example_OTHER_CMAKE)
  return()
endif()
example_build(sm90)
example_test(sm90)
foreach(test IN ITEMS stages lesson_saxpy.cpu lesson_saxpy.architectures one_add.architectures)
  example_expect(${test} Passed)
endforeach()
set(
  gpu_tests
  device_query
  who_am_i
  memory
  coalescing
  divergence
  reduction
  transpose
  occupancy
)
foreach(test IN LISTS gpu_tests ITEMS lesson_saxpy.cuda one_add.cuda one_add.Triton one_add.Numba)
  example_expect(${test} "Passed|Skipped")
endforeach()
