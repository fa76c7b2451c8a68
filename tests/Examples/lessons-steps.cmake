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

# One of them alone, as a project of its own.
set(alone "${case_DIR}/alone")
set(settings "-DPython_EXECUTABLE=${example_PYTHON}" -DCMAKE_CUDA_ARCHITECTURES=90-real)
if(example_TOOLKIT)
  list(APPEND settings "-DCUDAToolkit_ROOT=${example_TOOLKIT}")
endif()
case_step(
  configure_alone
  COMMAND "${case_CMAKE}" -G Ninja -S "${example_DIR}/02_threads_blocks_warps" -B "${alone}" ${settings}
)
case_step(build_alone COMMAND "${case_CMAKE}" --build "${alone}")
file(GLOB library "${alone}/libwho_am_i.*")
case_match("what it builds" "${library}" "libwho_am_i\\.so$")
