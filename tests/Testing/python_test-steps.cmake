# cudaops_add_python_test(): the library in the environment, modules on the path, arguments, pytest, exit codes.
machine(CPU)
file(
  WRITE "${case_DIR}/src/test_op.py"
  [==[
import os, sys
name = sys.argv[1]
path = os.environ["CUDAOPS_%s_LIBRARY" % name]
print("library", path)
assert os.path.isfile(path)
if len(sys.argv) > 2 and sys.argv[2] == "module":
    module = os.environ["PYTHONPATH"].split(os.pathsep)[0]
    assert os.path.isfile(os.path.join(module, "_C.abi3.so")), module
sys.exit(int(sys.argv[3]) if len(sys.argv) > 3 else 0)
]==]
)
file(WRITE "${case_DIR}/src/arguments.py" "import sys; assert sys.argv[1:] == ['a b', 'c', '--d=e'], sys.argv\n")
file(WRITE "${case_DIR}/src/import_fails.py" "import torch\n")
file(WRITE "${case_DIR}/src/one.py" "import sys; assert len(sys.argv) == 1\n")
# A pytest that says how it was called, and none.
file(
  WRITE "${case_DIR}/src/pytest/pytest.py"
  "import os, sys\ndef main():\n  print('pytest', sys.argv[1:3], sys.argv[3:] == ['${case_DIR}/src/test_op.py', 'a'])\n"
  "  print('at', sys.path[0] == os.getcwd())\n  return 77\n"
)
file(WRITE "${case_DIR}/src/no_pytest/pytest.py" "raise ModuleNotFoundError('No module named pytest', name='pytest')\n")
configure(
  [==[
add_torch_op(my-op.x SOURCES op.cpp)
add_torch_op(a_module SOURCES op.cpp PYTHON_MODULE _C)
cudaops_add_kernels(shared SHARED SOURCES op.cpp)
cudaops_add_python_test(plain OP my-op.x SCRIPT test_op.py ARGS MY_OP_X)
cudaops_add_python_test(module OP my-op.x a_module SCRIPT test_op.py ARGS A_MODULE module)
cudaops_add_python_test(kernels OP shared SCRIPT test_op.py ARGS SHARED)
cudaops_add_python_test(skips OP my-op.x SCRIPT test_op.py ARGS MY_OP_X plain 77)
cudaops_add_python_test(fails OP my-op.x SCRIPT test_op.py ARGS MY_OP_X plain 3)
cudaops_add_python_test(arguments OP my-op.x SCRIPT "${CMAKE_CURRENT_SOURCE_DIR}/arguments.py" ARGS "a b" c --d=e)
add_custom_command(OUTPUT no_arguments.py COMMAND "${CMAKE_COMMAND}" -E copy "${CMAKE_CURRENT_SOURCE_DIR}/one.py" no_arguments.py)
add_custom_target(generate ALL DEPENDS no_arguments.py)
cudaops_add_python_test(no_arguments OP my-op.x SCRIPT no_arguments.py ARGS ${nothing})
cudaops_add_python_test(no_torch OP my-op.x SCRIPT import_fails.py)
foreach(name IN ITEMS pytest no_pytest)
  cudaops_add_python_test(${name} OP my-op.x SCRIPT test_op.py PYTEST ARGS a)
  set_tests_properties(${name} PROPERTIES WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}/${name}")
endforeach()
set_tests_properties(plain PROPERTIES ENVIRONMENT_MODIFICATION "MINE=set:1")
]==]
)
case_build()
case_ctest(RESULT 8 ARGS -V)
expect_stdout(
  "module \\.+ +Passed"
  "kernels \\.+ +Passed"
  "skips \\.+\\*\\*\\*Skipped"
  "fails \\.+\\*\\*\\*Failed"
  " arguments \\.+ +Passed"
  "no_arguments \\.+ +Passed"
  "this torch must not be imported"
  "no_torch \\.+\\*\\*\\*Failed"
  "pytest \\['-p', 'no:cacheprovider'\\] True 9: at True"
  " pytest \\.+\\*\\*\\*Skipped"
  "cudaops_add_python_test\\(\\.\\.\\. PYTEST\\): this Python has no pytest\\. 10: found <case>/venv/bin/python 10: Fix: '?<case>/venv/bin/python'? -m pip install pytest"
  "no_pytest \\.+\\*\\*\\*Failed"
)
expect_stderr("Errors while running CTest")
if(EXISTS "${case_DIR}/src/__pycache__")
  case_fail("__pycache__ in the source tree")
endif()

# BUILD_TESTING off: the calls stand, there are no tests.
configure(
  "include(CTest)
add_torch_op(my_op SOURCES op.cpp)
cudaops_add_python_test(plain OP my_op SCRIPT test_op.py)
cudaops_add_gtest(t SOURCES op.cpp)
cudaops_add_benchmark(b SOURCES op.cpp)
if(TEST plain OR TARGET t OR TARGET b)
  message(FATAL_ERROR \"tests in spite of BUILD_TESTING=OFF\")
endif()"
  ARGS -DBUILD_TESTING=OFF
)
