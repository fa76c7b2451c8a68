# Which sources take precompiled headers: those that begin with torch's, and in a Python module those in which it comes
# next after Python.h. Others are named. tests/AddTorchOp/real_precompiled-steps.cmake is about what is taken.
find_program(program g++ NO_CACHE)
if(NOT program)
  case_skip("no g++ on this machine")
  return()
endif()
need_python_headers()
machine(CPU)
case_environment(CUDAOPS_PRECOMPILE=ON "CXX=${program}")
set(case_NO_SEED TRUE)
set(python "#include <Python.h>")
set(torch "#include <torch/csrc/stable/library.h>")
# The beginning that PyTorch's tutorial has.
set(begin_next "/* a\n * license */\n// and a remark\n\n${python} // first\n\n  /* then */ // torch\n${torch}")
set(begin_plain "${torch}")
set(begin_switch "#ifdef OTHER\n#include <vector>\n#endif\n${torch}")
set(begin_vector "#include <vector>\n${torch}")
set(begin_between "${python}\n#include <vector>\n${torch}")
set(begin_macro "${python}\n#define CHANGES_WHAT_FOLLOWS\n${torch}")
# No include of Python.h.
set(begin_continued "// a remark \\\n${python}\n${torch}")
set(begin_alone "${python}")
set(begin_limited "#define Py_LIMITED_API 0x030a0000\n${python}\n${torch}")
foreach(
  name
  IN
  ITEMS next plain switch vector between macro continued alone limited
)
  file(
    WRITE "${case_DIR}/src/${name}.cpp"
    "${begin_${name}}\n#ifdef Py_PYTHON_H\nPyObject* ${name}() { return PyLong_FromLong(Py_LIMITED_API); }\n#endif\n"
  )
endforeach()
set(
  code
  [==[
add_torch_op(op PYTHON_MODULE _C
  SOURCES plain.cpp next.cpp switch.cpp vector.cpp between.cpp macro.cpp continued.cpp alone.cpp limited.cpp)
target_compile_options(op PRIVATE ${SHOW})
]==]
)
configure("${code}" ARGS -DCMAKE_BUILD_TYPE=Release -DSHOW=-H)
set(said "compiled without precompiled headers")
expect_stdout("CudaOps: torch's stable headers are precompiled" "CudaOps: Python.h and torch's stable headers are precompiled")
expect_stdout("add_torch_op\\(op\\): vector.cpp is ${said}: vector stands before torch/csrc/stable/library.h")
foreach(name IN ITEMS between macro limited)
  expect_stdout("add_torch_op\\(op\\): ${name}.cpp is ${said}: torch/csrc/stable/library.h doesn't follow Python.h at once")
endforeach()
foreach(name IN ITEMS next plain switch alone)
  refuse_stdout("${name}.cpp is ${said}")
endforeach()
case_build(ARGS --parallel 1)
string(REGEX MATCHALL "Building CXX object [^\n]*|! [^\n]*\\.gch" lines "${case_STEP_STDOUT}")
set(taken "")
foreach(line IN LISTS lines)
  if(line MATCHES "/([a-z_]+)\\.cpp\\.o")
    set(name "${CMAKE_MATCH_1}")
  elseif(line MATCHES "/(Python|library)\\.h\\.gch")
    list(APPEND taken "${name} ${CMAKE_MATCH_1}")
  endif()
endforeach()
list(SORT taken)
case_equal("precompiled headers that were taken" "${taken}" "continued library;next Python;plain library;switch library")
set(object "${case_BUILD_DIR}/CMakeFiles/op.dir/next.cpp.o")
set(with "")
if(EXISTS "${object}")
  file(SHA256 "${object}" with)
endif()
configure("${code}" ARGS -DSHOW= -DCUDAOPS_PRECOMPILE=OFF)
refuse_stdout("are precompiled for" "${said}")
case_build()
set(without "none")
if(EXISTS "${object}")
  file(SHA256 "${object}" without)
endif()
case_equal("the object" "${with}" "${without}")

file(WRITE "${case_DIR}/python/Python.h" "#define OWN\n")
file(WRITE "${case_DIR}/src/other.cpp" "${python}\n${torch}\n#ifndef OWN\n#error not the author's own\n#endif\n")
# A Python of the author's own is not the one that was precompiled. With the version said on the target, it is as before.
configure(
  [==[
add_torch_op(op PYTHON_MODULE _C SOURCES other.cpp)
target_include_directories(op BEFORE PRIVATE ../python)
target_compile_options(op PRIVATE -H)
add_torch_op(said PYTHON_MODULE _said SOURCES next.cpp)
target_compile_definitions(said PRIVATE Py_LIMITED_API=0x030a0000)
target_compile_options(said PRIVATE -H)
]==]
  ARGS -DCUDAOPS_PRECOMPILE=ON
)
expect_stdout("add_torch_op\\(op\\): other.cpp is ${said}: Python.h stands before torch/csrc/stable/library.h")
case_build(ARGS --target said op)
string(REGEX MATCHALL "! [^\n]*Python\\.h\\.gch" lines "${case_STEP_STDOUT}")
list(LENGTH lines number)
case_equal("taken" "${number}" 1)
