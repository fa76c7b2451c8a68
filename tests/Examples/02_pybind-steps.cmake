# torch/extension.h takes most of a minute, so this is built once: by one CMake, with CUDA where it can be had.
example_begin(02_pybind)
execute_process(
  COMMAND "${example_PYTHON}" -c "import sysconfig; print(sysconfig.get_path('include'), end='')"
  OUTPUT_VARIABLE include
)
if(NOT EXISTS "${include}/Python.h")
  case_skip("ABI PYBIND needs Python's headers: there is no ${include}/Python.h")
  return()
endif()
example_configure(sm89)
if(NOT example_OTHER_CMAKE)
  example_build(sm89)
  example_test(sm89)
endif()
example_expect(pybind_ops.cpu Passed)
example_expect(pybind_ops.cuda "Passed|Skipped")
example_expect_member(PYBIND ops pybind_ops abi)
if(example_CUDA)
  example_expect_member(BUILT ops pybind_ops state)
  example_expect(pybind_ops.architectures Passed)
else()
  example_expect_member(CPU_ONLY ops pybind_ops state)
endif()
