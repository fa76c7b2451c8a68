# Options that contradict each other or have impossible values.
machine(CPU)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp ABI PYBIND)]]
  [[
add_torch_op(my_op): ABI PYBIND needs PYTHON_MODULE.
  rule pybind11's functions are reached by importing a module
 Fix: PYTHON_MODULE <module>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp ABI FULL TORCH_TARGET 2.13)]]
  [[
add_torch_op(my_op): TORCH_TARGET belongs to ABI STABLE.
  found ABI FULL, TORCH_TARGET 2.13
  rule a FULL library is tied to the torch it was built with
 Fix: leave TORCH_TARGET out, or ABI STABLE
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp ABI PYBIND PYTHON_MODULE _C TORCH_TARGET 2.13)]]
  [[
add_torch_op(my_op): TORCH_TARGET belongs to ABI STABLE.
  found ABI PYBIND, TORCH_TARGET 2.13
  rule a PYBIND library is tied to the torch it was built with
 Fix: leave TORCH_TARGET out, or ABI STABLE
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp CUDA REQUIRED)]]
  [[
add_torch_op(my_op): CUDA REQUIRED, and the op has no CUDA source.
 Fix: CUDA_SOURCES <file>... (.cu, and .cpp that registers CUDA kernels), or leave CUDA REQUIRED out
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp ARCHITECTURES 80)]]
  [[
add_torch_op(my_op): ARCHITECTURES says what CUDA_SOURCES support, and there are none.
 Fix: CUDA_SOURCES <file>..., or leave ARCHITECTURES out
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp TORCH_TARGET 2.9)]]
  [[
add_torch_op(my_op): the stable ABI begins with torch 2.10.
  found TORCH_TARGET 2.9
 Fix: TORCH_TARGET 2.10 or ABI FULL, with the torch that will run it
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp TORCH_TARGET 3)]]
  [[
add_torch_op(my_op): TORCH_TARGET is not a version.
  found 3
  wanted major.minor of a torch from 2.10 on
 Fix: TORCH_TARGET 2.10
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp TORCH_TARGET 3.0)]]
  [[
add_torch_op(my_op): TORCH_TARGET is newer than the torch it is built with.
  found torch 2.13.0+cpu (<case>/venv/bin/python (Python_EXECUTABLE))
  wanted TORCH_TARGET 3.0, whose functions these headers don't have
 Fix: TORCH_TARGET 2.10 or a newer torch: -DPython_EXECUTABLE=<python>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp TORCH_TARGET x)]]
  [[
add_torch_op(my_op): TORCH_TARGET is not a version.
  found x
  wanted major.minor of a torch from 2.10 on
 Fix: TORCH_TARGET 2.10
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp TORCH_TARGET 2.10.0.1)]]
  [[
add_torch_op(my_op): TORCH_TARGET is not a version.
  found 2.10.0.1
  wanted major.minor of a torch from 2.10 on
 Fix: TORCH_TARGET 2.10
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp TORCH_TARGET v2.10)]]
  [[
add_torch_op(my_op): TORCH_TARGET is not a version.
  found v2.10
  wanted major.minor of a torch from 2.10 on
 Fix: TORCH_TARGET 2.10
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp TORCH_TARGET 2.13+cu130)]]
  [[
add_torch_op(my_op): TORCH_TARGET is not a version.
  found 2.13+cu130
  wanted major.minor of a torch from 2.10 on
 Fix: TORCH_TARGET 2.10
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp TORCH_TARGET 2.14)]]
  [[
add_torch_op(my_op): TORCH_TARGET is newer than the torch it is built with.
  found torch 2.13.0+cpu (<case>/venv/bin/python (Python_EXECUTABLE))
  wanted TORCH_TARGET 2.14, whose functions these headers don't have
 Fix: TORCH_TARGET 2.10 or a newer torch: -DPython_EXECUTABLE=<python>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp TORCH_TARGET 2.300)]]
  [[
add_torch_op(my_op): TORCH_TARGET is newer than the torch it is built with.
  found torch 2.13.0+cpu (<case>/venv/bin/python (Python_EXECUTABLE))
  wanted TORCH_TARGET 2.300, whose functions these headers don't have
 Fix: TORCH_TARGET 2.10 or a newer torch: -DPython_EXECUTABLE=<python>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp TORCH_TARGET 2.10 TORCH_TARGET 2.11)]]
  [[
add_torch_op(my_op): TORCH_TARGET is given twice.
 Fix: <usage>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp PYTHON_MODULE my-ops)]]
  [[
add_torch_op(my_op): PYTHON_MODULE is not the name of a module.
  found my-ops
  wanted what can stand after import: letters, digits and _, and no keyword of Python
 Fix: PYTHON_MODULE _C, or the like
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp PYTHON_MODULE pkg._C)]]
  [[
add_torch_op(my_op): PYTHON_MODULE is not the name of a module.
  found pkg._C
  wanted what can stand after import: letters, digits and _, and no keyword of Python
 Fix: PYTHON_MODULE _C INSTALL pkg (a package is a directory)
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp PYTHON_MODULE a.b.c)]]
  [[
add_torch_op(my_op): PYTHON_MODULE is not the name of a module.
  found a.b.c
  wanted what can stand after import: letters, digits and _, and no keyword of Python
 Fix: PYTHON_MODULE c INSTALL a/b (a package is a directory)
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp PYTHON_MODULE 1x)]]
  [[
add_torch_op(my_op): PYTHON_MODULE is not the name of a module.
  found 1x
  wanted what can stand after import: letters, digits and _, and no keyword of Python
 Fix: PYTHON_MODULE _C, or the like
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp PYTHON_MODULE "a b")]]
  [[
add_torch_op(my_op): PYTHON_MODULE is not the name of a module.
  found a b
  wanted what can stand after import: letters, digits and _, and no keyword of Python
 Fix: PYTHON_MODULE _C, or the like
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp PYTHON_MODULE class)]]
  [[
add_torch_op(my_op): PYTHON_MODULE is not the name of a module.
  found class
  wanted what can stand after import: letters, digits and _, and no keyword of Python
 Fix: PYTHON_MODULE _C, or the like
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp INSTALL /usr/lib)]]
  [[
add_torch_op(my_op): INSTALL is one directory, relative to the install prefix.
  found /usr/lib
 Fix: INSTALL lib, and -DCMAKE_INSTALL_PREFIX=<prefix>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp INSTALL "a;b")]]
  [[
add_torch_op(my_op): INSTALL is one directory, relative to the install prefix.
  found a;b
 Fix: INSTALL lib, and -DCMAKE_INSTALL_PREFIX=<prefix>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp INSTALL lib/../../elsewhere)]]
  [[
add_torch_op(my_op): INSTALL is one directory, relative to the install prefix.
  found lib/../../elsewhere
 Fix: INSTALL lib, and -DCMAKE_INSTALL_PREFIX=<prefix>
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp INSTALL $<1:/opt>)]]
  [[
add_torch_op(my_op): INSTALL is one directory, relative to the install prefix.
  found $<1:/opt>
 Fix: INSTALL lib, and -DCMAKE_INSTALL_PREFIX=<prefix>
]]
)

misuse(
  [[
add_torch_op(my_op SOURCES op.cpp PYTHON_MODULE _C)
add_torch_op(my_other SOURCES op.cpp PYTHON_MODULE _C)
]]
  [[
add_torch_op(my_op): two ops make the same file.
  found <case>/build/_C.abi3.so, made by my_other too
 Fix: another PYTHON_MODULE or OUTPUT_NAME
  or INSTALL <package>, which is a directory of the build tree too
  or a directory of its own: set_target_properties(my_op PROPERTIES LIBRARY_OUTPUT_DIRECTORY <dir>)
]]
)

# PYTHON_PACKAGE: a directory with .py files, all of the package, and INSTALL says where it goes.
file(WRITE "${case_DIR}/src/python/pkg/__init__.py" "")
file(WRITE "${case_DIR}/src/python/pkg/inner/__init__.py" "")
file(WRITE "${case_DIR}/src/another/pkg/__init__.py" "")

misuse(
  [[add_torch_op(my_op SOURCES op.cpp PYTHON_MODULE _C INSTALL pkg PYTHON_PACKAGE none)]]
  [[
add_torch_op(my_op): PYTHON_PACKAGE takes the directory of a package, and there is nothing.
  found <case>/src/none
 Fix: PYTHON_PACKAGE <dir> (the one with __init__.py)
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp PYTHON_MODULE _C INSTALL pkg PYTHON_PACKAGE python/pkg/__init__.py)]]
  [[
add_torch_op(my_op): PYTHON_PACKAGE takes the directory of a package, and this is a file.
  found <case>/src/python/pkg/__init__.py
 Fix: PYTHON_PACKAGE python/pkg
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp PYTHON_MODULE _C INSTALL pkg PYTHON_PACKAGE op.cpp)]]
  [[
add_torch_op(my_op): PYTHON_PACKAGE takes the directory of a package, and this is a file.
  found <case>/src/op.cpp
 Fix: PYTHON_PACKAGE .
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp PYTHON_MODULE _C INSTALL pkg PYTHON_PACKAGE python)]]
  [[
add_torch_op(my_op): PYTHON_PACKAGE holds no .py file.
  found <case>/src/python
 Fix: PYTHON_PACKAGE python/pkg
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp PYTHON_MODULE _C PYTHON_PACKAGE python/pkg)]]
  [[
add_torch_op(my_op): PYTHON_PACKAGE needs INSTALL, the package's directory below the install prefix.
  found ''
 Fix: INSTALL pkg
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp PYTHON_MODULE _C INSTALL pkg/inner PYTHON_PACKAGE python/pkg/inner)]]
  [[
add_torch_op(my_op): PYTHON_PACKAGE takes the whole package, and this is a part of one.
  found <case>/src/python/pkg/inner
  whole <case>/src/python/pkg
 Fix: PYTHON_PACKAGE python/pkg
]]
)

misuse(
  [[
add_torch_op(my_op SOURCES op.cpp PYTHON_MODULE _C INSTALL pkg PYTHON_PACKAGE python/pkg)
set_target_properties(my_op PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/out)
]]
  [[
add_torch_op(my_op): LIBRARY_OUTPUT_DIRECTORY takes the library out of its package.
  found <case>/build/out
  wanted a directory that ends with INSTALL: pkg
 Fix: leave the property to add_torch_op(), which sets it to <case>/build/pkg
  or <dir>/pkg
]]
)

misuse(
  [[
add_torch_op(my_op SOURCES op.cpp PYTHON_MODULE _C INSTALL pkg PYTHON_PACKAGE python/pkg)
add_torch_op(my_other SOURCES op.cpp PYTHON_MODULE _D INSTALL pkg PYTHON_PACKAGE another/pkg)
]]
  [[
add_torch_op(my_other): a package has its .py files in one directory.
  found <case>/src/another/pkg
  and <case>/src/python/pkg of my_op, both for <case>/build/pkg
 Fix: the same PYTHON_PACKAGE, or another INSTALL
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp PYTHON_TARGET 3.10)]]
  [[
add_torch_op(my_op): PYTHON_TARGET is about a Python module, and PYTHON_MODULE is missing.
  found PYTHON_TARGET 3.10
 Fix: PYTHON_MODULE <module>, or leave PYTHON_TARGET out
]]
)

misuse(
  [[add_torch_op(my_op SOURCES op.cpp ABI PYBIND PYTHON_MODULE _C PYTHON_TARGET 3.10)]]
  [[
add_torch_op(my_op): PYTHON_TARGET belongs to ABI STABLE and FULL.
  found ABI PYBIND, PYTHON_TARGET 3.10
  rule a PYBIND module is tied to the Python it was built with
 Fix: leave PYTHON_TARGET out
]]
)

foreach(version IN ITEMS 310 3.4 3.10.2)
  misuse(
    "add_torch_op(my_op SOURCES op.cpp PYTHON_MODULE _C PYTHON_TARGET ${version})"
    "
add_torch_op(my_op): PYTHON_TARGET is not a version of Python.
  found ${version}
  wanted 3.<minor>, from 3.5 on
 Fix: PYTHON_TARGET 3.10, or the like
"
  )
endforeach()

misuse(
  [[add_torch_op(my_op SOURCES op.cpp PYTHON_MODULE _C PYTHON_TARGET 3.99)]]
  [[
add_torch_op(my_op): PYTHON_TARGET is newer than the Python it is built with.
  found Python … (<case>/venv/bin/python)
  wanted PYTHON_TARGET 3.99, whose functions these headers don't have
 Fix: PYTHON_TARGET 3.9 or a newer Python: -DPython_EXECUTABLE=<python>
]]
)
