# A package in the build tree: modules lie where INSTALL puts them, the .py files beside them as they are now, and tests
# import what users import. Two modules of one name, ops that share a package, each kind of generator, `cmake --install`.
machine(CPU)
set(package "${case_DIR}/src/python/pkg")
file(WRITE "${package}/__init__.py" "value = 1\n")
file(WRITE "${package}/py.typed" "")
file(WRITE "${package}/_C.pyi" "")
file(WRITE "${package}/data.txt" "no module\n")
file(WRITE "${package}/__pycache__/__init__.cpython-310.pyc" "")
file(WRITE "${package}/sub/__init__.py" "")
file(WRITE "${package}/sub/grün.py" "")
file(WRITE "${package}/some_build/CMakeCache.txt" "")
file(WRITE "${package}/some_build/pkg/__init__.py" "")
file(WRITE "${case_DIR}/src/other/own.py" "")
file(CREATE_LINK "${package}" "${package}/sub/above" SYMBOLIC)
file(
  WRITE "${case_DIR}/src/deeper/CMakeLists.txt"
  "add_torch_op(second SOURCES ../op.cpp PYTHON_MODULE _D INSTALL pkg/inner PYTHON_PACKAGE ../python/pkg)\n"
)
file(
  WRITE "${case_DIR}/src/imports.py"
  [==[
import importlib.util, os, sys
for name in sys.argv[1].split(","):
    spec = importlib.util.find_spec(name)
    assert spec and spec.origin, name
    print(name, "is", spec.origin)
for name in sys.argv[2:]:
    assert importlib.util.find_spec(name) is None, name
if "pkg" in sys.argv[1]:
    import pkg
    print("value", pkg.value)
]==]
)
set(
  calls
  [==[
add_torch_op(first SOURCES op.cpp PYTHON_MODULE _C INSTALL ./pkg/ PYTHON_PACKAGE python/pkg/)
add_subdirectory(deeper)
add_torch_op(alone SOURCES op.cpp PYTHON_MODULE _C INSTALL alone)
add_torch_op(renamed SOURCES op.cpp PYTHON_MODULE _C INSTALL lib/site-packages/renamed PYTHON_PACKAGE other)
add_torch_op(loaded SOURCES op.cpp INSTALL loads PYTHON_PACKAGE other)
add_torch_op(plain SOURCES op.cpp INSTALL lib)
add_torch_op(bare SOURCES op.cpp PYTHON_MODULE _B)
add_torch_op(hopper CUDA_SOURCES op.cu PYTHON_MODULE _H INSTALL hopper PYTHON_PACKAGE other)
cudaops_add_python_test(pkg OP first second SCRIPT imports.py ARGS pkg,pkg._C,pkg.sub,pkg.inner._D _C _D sub)
cudaops_add_python_test(alone OP alone SCRIPT imports.py ARGS alone._C,_C)
cudaops_add_python_test(renamed OP renamed SCRIPT imports.py ARGS renamed._C,renamed.own own)
cudaops_add_python_test(loaded OP loaded SCRIPT imports.py ARGS loads.own)
cudaops_add_python_test(bare OP bare SCRIPT imports.py ARGS _B)
]==]
)
project_says("${calls}")

# expect_package(<what> <directory> [<file>...]): the .py files in it, and nothing else that is copied.
function(expect_package what directory)
  file(GLOB_RECURSE found RELATIVE "${directory}" "${directory}/*")
  list(FILTER found EXCLUDE REGEX "\\.so$|CMakeFiles|\\.cmake$|Makefile")
  list(SORT found)
  case_equal("${what}" "${found}" "${ARGN}")
endfunction()

foreach(generator IN ITEMS Ninja "Unix Makefiles" "Ninja Multi-Config")
  set(case_GENERATOR "${generator}")
  string(MAKE_C_IDENTIFIER "my ${generator}" build)
  set(build "${case_DIR}/my builds/${build}")
  file(WRITE "${package}/__init__.py" "value = 1\n")
  file(WRITE "${package}/sub/grün.py" "")
  file(REMOVE_RECURSE "${package}/later" "${case_DIR}/prefix")
  case_configure(BUILD_DIR "${build}" ARGS "-DCMAKE_INSTALL_PREFIX=${case_DIR}/prefix")
  set(config "")
  set(ctest "")
  if(generator MATCHES "Multi")
    set(config "/Debug")
    set(ctest ARGS -C Debug -V)
  else()
    set(ctest ARGS -V)
  endif()
  case_build(BUILD_DIR "${build}" ARGS --parallel 2)
  case_ctest(BUILD_DIR "${build}" ${ctest})
  expect_stdout("pkg is ${build}${config}/pkg/__init__\\.py" "value 1")
  foreach(
    file
    IN
    ITEMS
      pkg/_C.abi3.so
      pkg/inner/_D.abi3.so
      alone/_C.abi3.so
      lib/site-packages/renamed/_C.abi3.so
      lib/site-packages/renamed/own.py
      loads/libloaded.so
      hopper/own.py
      _B.abi3.so
      libplain.so
  )
    if(NOT EXISTS "${build}${config}/${file}")
      case_fail("${generator}: there is no ${build}${config}/${file}")
    endif()
  endforeach()
  expect_package("${generator}" "${build}${config}/pkg" _C.pyi __init__.py py.typed sub/__init__.py sub/grün.py)

  # Edits, what comes, what goes, and a copy that was removed; what others have put there stays.
  case_build(BUILD_DIR "${build}")
  refuse_stdout("Python package")
  file(WRITE "${build}${config}/pkg/version.py" "generated\n")
  file(WRITE "${package}/__init__.py" "value = 2\n")
  file(WRITE "${package}/later/__init__.py" "")
  file(REMOVE "${package}/sub/grün.py")
  case_build(BUILD_DIR "${build}")
  expect_stdout("Python package pkg")
  case_ctest(BUILD_DIR "${build}" ${ctest})
  expect_stdout("value 2")
  set(
    all
    _C.pyi
    __init__.py
    later/__init__.py
    py.typed
    sub/__init__.py
    version.py
  )
  expect_package("${generator}, later" "${build}${config}/pkg" ${all})
  file(REMOVE "${build}${config}/pkg/__init__.py")
  file(REMOVE_RECURSE "${package}/later")
  case_build(BUILD_DIR "${build}")
  list(REMOVE_ITEM all later/__init__.py)
  expect_package("${generator}, a directory less" "${build}${config}/pkg" ${all})
  if(EXISTS "${build}${config}/pkg/later")
    case_fail("${generator}: an empty directory is left, which can be imported")
  endif()

  # As it is when it is installed. The op that isn't built has its package all the same, as in a wheel.
  file(WRITE "${package}/late.py" "")
  set(install --install "${build}")
  if(config)
    list(APPEND install --config Debug)
  endif()
  case_step(install COMMAND "${case_CMAKE}" ${install})
  file(REMOVE "${package}/late.py")
  expect_package("${generator}, installed" "${case_DIR}/prefix/pkg" _C.pyi __init__.py late.py py.typed sub/__init__.py)
  foreach(
    file
    IN
    ITEMS pkg/_C.abi3.so pkg/inner/_D.abi3.so loads/libloaded.so loads/own.py hopper/own.py lib/libplain.so
  )
    if(NOT EXISTS "${case_DIR}/prefix/${file}")
      case_fail("${generator}: ${file} is not installed")
    endif()
  endforeach()
endforeach()

# A build in the source tree, where package and module share a directory: nothing is copied, nothing removed. A directory
# for all libraries holds the packages as well. A wheel's backend packs the files itself.
set(case_GENERATOR Ninja)
file(COPY "${package}" DESTINATION "${case_DIR}/src")
configure("add_torch_op(first SOURCES op.cpp PYTHON_MODULE _C INSTALL pkg PYTHON_PACKAGE pkg)")
file(REMOVE_RECURSE "${case_DIR}/src/CMakeFiles")
case_configure(BUILD_DIR "${case_DIR}/src")
case_build(BUILD_DIR "${case_DIR}/src")
case_build(BUILD_DIR "${case_DIR}/src")
if(NOT EXISTS "${case_DIR}/src/pkg/_C.abi3.so" OR NOT EXISTS "${case_DIR}/src/pkg/__init__.py")
  case_fail("a build in the source tree has lost a file")
endif()
case_configure(BUILD_DIR "${case_DIR}/gathered" ARGS "-DCMAKE_LIBRARY_OUTPUT_DIRECTORY=${case_DIR}/gathered/out")
case_build(BUILD_DIR "${case_DIR}/gathered")
if(NOT EXISTS "${case_DIR}/gathered/out/pkg/_C.abi3.so" OR NOT EXISTS "${case_DIR}/gathered/out/pkg/__init__.py")
  case_fail("CMAKE_LIBRARY_OUTPUT_DIRECTORY has not the package")
endif()
case_configure(BUILD_DIR "${case_DIR}/wheel" ARGS -DSKBUILD=2 "-DCMAKE_INSTALL_PREFIX=${case_DIR}/site")
case_build(BUILD_DIR "${case_DIR}/wheel")
case_step("install of a wheel" COMMAND "${case_CMAKE}" --install "${case_DIR}/wheel")
expect_package("a wheel" "${case_DIR}/site/pkg")
if(NOT EXISTS "${case_DIR}/site/pkg/_C.abi3.so")
  case_fail("the wheel has no module")
endif()
