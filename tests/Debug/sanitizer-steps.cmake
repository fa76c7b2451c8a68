# CUDAOPS_SANITIZER: a test for each tool beside each gtest program and each Python test, with that test's environment and 20
# times its time. Without the tool they are skipped, with the way to get it.
machine(CUDA)
file(WRITE "${case_DIR}/src/test_op.py" "import sys\nsys.exit(0)\n")
set(
  tests
  [==[
add_library(GTest::gtest INTERFACE IMPORTED)
add_library(GTest::gtest_main INTERFACE IMPORTED)
add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op.cu)
cudaops_add_python_test(python OP my_op SCRIPT test_op.py ARGS "a b")
set_tests_properties(python PROPERTIES TIMEOUT 7 WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
cudaops_add_python_test(my_op.cpu OP my_op SCRIPT test_op.py)
cudaops_add_python_test(cpu_python OP my_op SCRIPT test_op.py)
cudaops_add_gtest(program SOURCES op_cuda.cpp)
]==]
)
configure("${tests}" ARGS "-DCUDAOPS_SANITIZER=memcheck,racecheck")
case_ctest(ARGS --show-only=json-v1)
# A test of the CPU launches no kernel: nothing would be checked.
expect_stdout("\"my_op\\.cpu\"" "\"cpu_python\"")
refuse_stdout("cpu\\.memcheck" "cpu_python\\.memcheck")
# The first line says where ctest is.
string(FIND "${case_STEP_STDOUT}" "{" begin)
string(SUBSTRING "${case_STEP_STDOUT}" ${begin} -1 tests)
foreach(name IN ITEMS python.memcheck python.racecheck program.memcheck program.racecheck)
  set(found "")
  string(JSON count LENGTH "${tests}" tests)
  math(EXPR last "${count} - 1")
  foreach(i RANGE ${last})
    string(JSON test GET "${tests}" tests ${i})
    string(JSON this GET "${test}" name)
    if(this STREQUAL name)
      set(found "${test}")
    endif()
  endforeach()
  if(found STREQUAL "")
    case_fail("no test ${name}")
    continue()
  endif()
  string(JSON command GET "${found}" command)
  string(JSON properties GET "${found}" properties)
  string(REGEX REPLACE "[\r\n ]+" " " text "${command} ${properties}")
  if(name MATCHES "python")
    case_match("${name}" "${text}" "\"--library\", \"[^\"]*/libmy_op\\.so\", \"--\", .*/test_op\\.py\", \"a b\"")
    case_match("${name}: time" "${text}" "\"TIMEOUT\", \"value\" : 140")
    case_match("${name}: environment" "${text}" "CUDAOPS_MY_OP_LIBRARY=set:")
  else()
    case_match("${name}" "${text}" "\"--\", \"[^\"]*/program\", \"--gtest_filter=\\*Gpu\\*:\\*GPU\\*\"")
    case_match("${name}: time" "${text}" "\"TIMEOUT\", \"value\" : 30000")
  endif()
  case_match("${name}: label" "${text}" "\"sanitizer\"")
endforeach()
case_ctest(ARGS -R "^python[.]" -V)
expect_stdout(
  "SKIPPED: compute-sanitizer was not found\\. [0-9]+: searched <case>/cuda/bin "
  "python\\.racecheck \\.+\\*\\*\\*Skipped"
)

# Where the backend isn't CUDA.
machine(CPU)
file(REMOVE_RECURSE "${case_BUILD_DIR}")
configure(
  "add_torch_op(my_op SOURCES op.cpp)\ncudaops_add_python_test(python OP my_op SCRIPT test_op.py)"
  ARGS "-DCUDAOPS_SANITIZER=memcheck"
)
case_build()
case_ctest(ARGS -V)
expect_stdout(
  "SKIPPED: compute-sanitizer is for CUDA, and the backend is CPU"
  "python\\.memcheck \\.+\\*\\*\\*Skipped"
  "python \\.+ +Passed"
)
