# Py_LIMITED_API of an abi3 module: that of PYTHON_TARGET, or what the author has said, on the target, in a source, by a
# library that he links. It is never defined twice, which -Werror would tell.
machine(CPU)
file(
  WRITE "${case_DIR}/python/Python.h"
  "#if Py_LIMITED_API != EXPECTED\n#error another Py_LIMITED_API\n#endif\nint used_by_author();\n"
)
file(WRITE "${case_DIR}/src/op.cpp" "#include <Python.h>\n")
file(WRITE "${case_DIR}/src/says.cpp" "#define Py_LIMITED_API 0x030a0000\n#include \"Python.h\"\n")
configure(
  [==[
function(expect name expected)
  target_compile_definitions(${name} PRIVATE EXPECTED=${expected})
  target_compile_options(${name} PRIVATE -Werror)
  target_include_directories(${name} BEFORE PRIVATE ../python)
endfunction()
# Held by a Python.h that stands before the real one.
add_torch_op(default SOURCES op.cpp PYTHON_MODULE _default)
expect(default 0x03090000)
add_torch_op(target SOURCES op.cpp ABI FULL PYTHON_MODULE _target PYTHON_TARGET 3.11)
expect(target 0x030b0000)
add_torch_op(in_source SOURCES says.cpp PYTHON_MODULE _in_source)
expect(in_source 0x030a0000)
add_torch_op(definition SOURCES op.cpp PYTHON_MODULE _definition PYTHON_TARGET 3.11)
expect(definition 0x030a0000)
target_compile_definitions(definition PRIVATE Py_LIMITED_API=0x030a0000)
add_torch_op(option SOURCES op.cpp PYTHON_MODULE _option)
expect(option 0x030a0000)
target_compile_options(option PRIVATE -DPy_LIMITED_API=0x030a0000)
add_library(says INTERFACE)
target_compile_definitions(says INTERFACE "$<1:Py_LIMITED_API=0x030a0000>")
add_torch_op(linked SOURCES op.cpp PYTHON_MODULE _linked)
expect(linked 0x030a0000)
target_link_libraries(linked PRIVATE says)
]==]
)
case_build()
