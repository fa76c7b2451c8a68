# What uses Python's API through a header links as any other target does, however deep the header lies and though it came
# after the configure step: Python's symbols come from the interpreter. Anything else that is missing stops the link with
# its name, and with no name of Python's beside it; what doesn't use Python is the library that it would be without.
find_program(compiler NAMES g++ NO_CACHE)
if(NOT compiler)
  case_skip("no g++ on this machine")
  return()
endif()
use_linkers(linkers)
machine(CPU)
set(
  code
  [==[
include_directories(include)
set(targets full bound)
add_torch_op(full ABI FULL SOURCES op.cpp)
add_torch_op(bound ABI PYBIND SOURCES op.cpp PYTHON_MODULE _bound)
if(ALL)
  add_library(helper STATIC op.cpp)
  set_target_properties(helper PROPERTIES POSITION_INDEPENDENT_CODE ON)
  add_torch_op(stable SOURCES op.cpp)
  add_torch_op(stable_module SOURCES op.cpp PYTHON_MODULE _stable)
  add_torch_op(full_module ABI FULL SOURCES op.cpp PYTHON_MODULE _full)
  add_torch_op(of_archive ABI FULL SOURCES more.cpp)
  target_link_libraries(of_archive PRIVATE -Wl,--whole-archive helper -Wl,--no-whole-archive)
  cudaops_add_kernels(kernels SHARED SOURCES op.cpp)
  list(APPEND targets stable stable_module full_module of_archive kernels)
endif()
foreach(target IN LISTS targets)
  target_link_options(${target} PRIVATE ${LINKER})
endforeach()
]==]
)
file(
  WRITE "${case_DIR}/src/op.cpp"
  [==[
#include "first.h"
#ifdef USES_PYTHON
void* object() { return make(); }
#endif
#ifdef MISSES
extern "C" void launch_nowhere();
extern "C" void PyThere_IsNone();
extern "C" void cublasLtCreate();
extern "C" void cuInit();
extern "C" void omp_get_level();
void calls() { launch_nowhere(), PyThere_IsNone(), cublasLtCreate(), cuInit(), omp_get_level(); }
#endif
]==]
)
file(WRITE "${case_DIR}/src/more.cpp" "")
file(WRITE "${case_DIR}/src/include/first.h" "#include \"deep.h\"\n")
set(
  python
  [==[
#define USES_PYTHON
extern "C" void* PyModule_Create2(void*, int);
extern "C" char _Py_NoneStruct;
inline void* make() { return _Py_NoneStruct ? nullptr : PyModule_Create2(nullptr, 1013); }
]==]
)

# needed(<out>): what each library needs.
function(needed out)
  case_step(
    dynamic
    COMMAND sh -c "for library in *.so; do echo $library; readelf -d $library | grep NEEDED; done; true"
    WORKING_DIRECTORY "${case_BUILD_DIR}"
  )
  set(${out} "${case_STEP_STDOUT}" PARENT_SCOPE)
endfunction()

foreach(linker IN ITEMS "" bfd LISTS linkers ITEMS Makefiles)
  file(REMOVE_RECURSE "${case_BUILD_DIR}")
  set(args "")
  set(keep_going -- -k 0)
  set(code_of_failure 1)
  set(links 2)
  if(linker STREQUAL "")
    set(args -DALL=ON)
    set(links 7)
  elseif(linker STREQUAL "Makefiles")
    set(case_GENERATOR "Unix Makefiles")
    set(keep_going -- -k)
    set(code_of_failure 2)
  else()
    set(args "-DLINKER=-fuse-ld=${linker}")
  endif()
  file(WRITE "${case_DIR}/src/include/deep.h" "")
  configure("${code}" ARGS ${args})
  case_build()
  needed(plain)

  # Python's API comes in by a header: nothing but the build runs.
  file(WRITE "${case_DIR}/src/include/deep.h" "${python}")
  case_build()
  refuse_stdout("undefined" "Re-running CMake")
  needed(with_python)
  case_equal("what they need, ${linker}" "${with_python}" "${plain}")
  file(GLOB left "${case_BUILD_DIR}/*.so.*")
  case_equal("what is left behind" "${left}" "")
  if(linker STREQUAL "")
    case_step(
      load
      COMMAND
        "${case_PYTHON}" -c "import ctypes, sys\nfor name in sys.argv[1:]: ctypes.CDLL(name)"
        "${case_BUILD_DIR}/_stable.abi3.so" "${case_BUILD_DIR}/libkernels.so"
    )
  endif()

  # A name like Python's that no interpreter has is missing like any other.
  file(WRITE "${case_DIR}/src/include/deep.h" "#define MISSES\n${python}")
  case_build(RESULT ${code_of_failure} ARGS ${keep_going})
  foreach(missing IN ITEMS launch_nowhere PyThere_IsNone)
    string(
      REGEX MATCHALL "undefined (reference to|symbol:?) [`']?${missing}"
      said
      "${case_STEP_STDOUT}${case_STEP_STDERR}"
    )
    list(LENGTH said count)
    case_equal("links that name ${missing}, ${linker}" "${count}" "${links}")
  endforeach()
  foreach(
    fix
    IN
    ITEMS
      "target_link_libraries\\(<target> PRIVATE CudaOps::cublasLt CudaOps::cuda_driver CudaOps::openmp\\)"
      "add the source that defines it"
  )
    string(REGEX MATCHALL "Fix: ${fix}" said "${case_STEP_STDOUT}${case_STEP_STDERR}")
    list(LENGTH said count)
    case_equal("links that say ${fix}, ${linker}" "${count}" "${links}")
  endforeach()
  case_not_match("what is said" "${case_STEP_STDOUT}${case_STEP_STDERR}" "PyModule_Create2|_Py_NoneStruct")
  file(GLOB left "${case_BUILD_DIR}/*.so*")
  case_equal("what is left behind" "${left}" "")
endforeach()
# Makefiles say it there.
set_property(GLOBAL PROPERTY case_STDERR "")

# A launcher of the project's own runs before ours.
file(WRITE "${case_DIR}/src/include/deep.h" "${python}")
configure("set_property(GLOBAL PROPERTY RULE_LAUNCH_LINK \"env LAUNCHED=1\")\n${code}")
case_build(ARGS --verbose)
expect_stdout("env LAUNCHED=1 ")
