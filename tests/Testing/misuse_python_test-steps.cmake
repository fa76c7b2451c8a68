# cudaops_add_python_test(): every argument that can be wrong.
machine(CPU)
file(WRITE "${case_DIR}/src/test_op.py" "")
set(commands_USAGE "cudaops_add_python_test(<name> OP <op>... SCRIPT <file> [PYTEST] [ARGS <arg>...])")
set(op "add_torch_op(my_op SOURCES op.cpp)\n")

misuse_name(cudaops_add_python_test "the name of the test" [[OP my_op SCRIPT test_op.py]])

misuse(
  [[cudaops_add_python_test(t)]]
  [[
cudaops_add_python_test(t): OP is missing.
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_python_test(t my_op test_op.py)]]
  [[
cudaops_add_python_test(t): unknown argument 'my_op'.
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_python_test(t OP my_op)]]
  [[
cudaops_add_python_test(t): SCRIPT is missing.
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp)
cudaops_add_python_test(t OP my_op)]]
  [[
cudaops_add_python_test(t): SCRIPT is missing.
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_python_test(t SCRIPT test_op.py)]]
  [[
cudaops_add_python_test(t): OP is missing.
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_python_test(t OP SCRIPT test_op.py)]]
  [[
cudaops_add_python_test(t): OP needs a value.
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_python_test(t OP my_op SCRIPT)]]
  [[
cudaops_add_python_test(t): SCRIPT needs a value.
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_python_test(t OP "" SCRIPT test_op.py)]]
  [[
cudaops_add_python_test(t): OP needs a value.
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_python_test(t OP my_op SCRIPT "")]]
  [[
cudaops_add_python_test(t): SCRIPT needs a value.
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_python_test(t OP op SCRIPT test_op.py)]]
  [[
cudaops_add_python_test(t): OP names no op.
  found op
  wanted an add_torch_op(), or SHARED kernels, made before this call
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp)
cudaops_add_python_test(t OP my_opp SCRIPT test_op.py)]]
  [[
cudaops_add_python_test(t): OP names no op.
  found my_opp
  wanted an add_torch_op(), or SHARED kernels, made before this call nearest my_op
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp)
cudaops_add_python_test(t OP my_op script test_op.py)]]
  [[
cudaops_add_python_test(t): SCRIPT is missing.
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp)
cudaops_add_python_test(t OP my_op SCRIPT test_opp.py)]]
  [[
cudaops_add_python_test(t): SCRIPT names a file that doesn't exist.
  found test_opp.py
  looked <case>/src/test_opp.py
  there is <case>/src/test_op.py
 Fix: the right name, or add the command that generates it before this call (its OUTPUT counts)
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp)
cudaops_add_python_test(t OP my_op SCRIPT ${CMAKE_CURRENT_SOURCE_DIR})]]
  [[
cudaops_add_python_test(t): SCRIPT is a file, and this is a directory.
  found <case>/src
 Fix: SCRIPT <case>/src/<file>.py
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp)
cudaops_add_python_test(t OP my_op SCRIPT test_op.py pytest)]]
  [[
cudaops_add_python_test(t): unknown argument 'pytest', did you mean PYTEST?
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp)
cudaops_add_python_test(t OP my_op SCRIPT test_op.py SCRIPT test_op.py)]]
  [[
cudaops_add_python_test(t): SCRIPT is given twice.
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp)
cudaops_add_python_test(t OP my_op SCRIPT test_op.py)
cudaops_add_python_test(t OP my_op SCRIPT test_op.py)]]
  [[
cudaops_add_python_test(t): there is a test of this name already.
 Fix: another name
]]
)

misuse(
  [[add_library(other STATIC op.cpp)
cudaops_add_python_test(t OP other SCRIPT test_op.py)]]
  [[
cudaops_add_python_test(t): OP names no op.
  found other
  wanted an add_torch_op(), or SHARED kernels, made before this call
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_kernels(k SOURCES op.cpp)
cudaops_add_python_test(t OP k SCRIPT test_op.py)]]
  [[
cudaops_add_python_test(t): OP names no op.
  found k
  wanted an add_torch_op(), or SHARED kernels, made before this call
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp)
cudaops_add_python_test(t OP $<1:my_op> SCRIPT test_op.py)]]
  [[
cudaops_add_python_test(t): OP names no op.
  found $<1:my_op>
  wanted an add_torch_op(), or SHARED kernels, made before this call
 Fix: <usage>
]]
)

misuse(
  [[cudaops_add_python_test("a;b" OP my_op SCRIPT test_op.py)]]
  [[
cudaops_add_python_test(a;b): not a name for a test.
  found 'a;b'
  wanted no brackets, quotes, backslashes, semicolons or generator expressions
 Fix: <usage>
]]
)
