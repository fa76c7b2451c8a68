# CudaOps::openmp with a torch that brings a libgomp, with one that brings none, without torch, in CPU-only builds and with
# CUDA, by g++ and by clang: loops run in parallel, nobody warns, and torch's own file is linked where it has one.
find_program(compiler NAMES g++ NO_CACHE)
if(NOT compiler)
  case_skip("no g++ on this machine")
  return()
endif()
execute_process(
  COMMAND "${compiler}" -print-file-name=libgomp.so.1
  OUTPUT_VARIABLE gomp
  OUTPUT_STRIP_TRAILING_WHITESPACE
)
if(NOT EXISTS "${gomp}")
  case_skip("no libgomp.so.1 on this machine")
  return()
endif()
set(
  loop
  [==[
#ifndef _OPENMP
#error
#endif
extern "C" int omp_get_num_threads();
int threads() {
  int count = 0;
#pragma omp parallel
#pragma omp critical
  count = omp_get_num_threads();
  return count;
}
]==]
)
set(
  code
  [==[
cudaops_add_kernels(kernels SHARED SOURCES op.cpp op.cu)
target_link_libraries(kernels PRIVATE CudaOps::openmp)
add_executable(exe main.cpp)
target_link_libraries(exe PRIVATE kernels)
add_test(NAME runs COMMAND exe)
set_tests_properties(runs PROPERTIES ENVIRONMENT "OMP_NUM_THREADS=3")
if(CudaTorchMatch_TORCH_VERSION)
  add_torch_op(stable SOURCES op.cpp CUDA_SOURCES op.cu)
  add_torch_op(full ABI FULL SOURCES op.cpp)
  target_link_libraries(stable PRIVATE CudaOps::openmp)
  target_link_libraries(full PRIVATE CudaOps::openmp)
endif()
]==]
)
function(sources)
  file(WRITE "${case_DIR}/src/op.cpp" "${loop}")
  file(WRITE "${case_DIR}/src/op.cu" "// nothing\n")
  file(WRITE "${case_DIR}/src/main.cpp" "int threads();\nint main() { return threads() - 3; }\n")
endfunction()
set(lib "${case_DIR}/venv/lib/python${case_PYTHON_VERSION}/site-packages/torch/lib")
string(REGEX REPLACE "([][.*+?^$(){}|\\])" "\\\\\\1" lib_regex "${lib}")

# expect_links(<regex>): of each link but the program's.
function(expect_links regex)
  string(REGEX MATCHALL "\\.link\\.settings[^\n]* -shared [^\n]*" links "${case_STEP_STDOUT}")
  list(LENGTH links count)
  if(count EQUAL 0)
    case_fail("no link in the output")
  endif()
  foreach(link IN LISTS links)
    case_match("a link" "${link}" "${regex}")
  endforeach()
endfunction()

foreach(machine IN ITEMS CPU CUDA)
  file(REMOVE_RECURSE "${case_BUILD_DIR}" "${case_DIR}/venv")
  machine(${machine})
  sources()
  file(COPY_FILE "${gomp}" "${lib}/libgomp.so.1")
  configure("${code}")
  if(machine STREQUAL "CPU")
    case_build(ARGS --verbose)
    expect_links("${lib_regex}/libgomp\\.so\\.1")
    refuse_stdout("/usr/[^ ]*libgomp")
    case_ctest()
    case_step(dynamic COMMAND readelf -d "${case_BUILD_DIR}/libstable.so")
    expect_stdout("NEEDED[^\n]*libgomp\\.so\\.1")
  else()
    case_build(ARGS --verbose)
    expect_stdout("-Xcompiler=-fopenmp[^\n]*op\\.cu")
  endif()
endforeach()

# find_package(OpenMP) works as ever; what CMake warns of is said to have a way out.
machine(CPU)
sources()
configure("find_package(OpenMP REQUIRED)\nadd_torch_op(stable SOURCES op.cpp)\ntarget_link_libraries(stable PRIVATE OpenMP::OpenMP_CXX)")
expect_stdout("add_torch_op\\(stable\\): OpenMP::OpenMP_CXX is the compiler's libgomp, and torch loads [^ ]*/torch/lib/libgomp\\.so\\.1, which CMake warns of: CudaOps::openmp is torch's")
expect_stderr("Cannot generate a safe runtime search path for target stable")

# clang's code needs LLVM's runtime, which is a second one.
find_program(clang NAMES clang++ NO_CACHE)
set(works 1)
if(clang)
  file(WRITE "${case_DIR}/try.cpp" "int main() {}\n")
  execute_process(
    COMMAND "${clang}" -fopenmp "${case_DIR}/try.cpp" -o "${case_DIR}/try"
    RESULT_VARIABLE works
    ERROR_QUIET
  )
endif()
if(works EQUAL 0)
  file(REMOVE_RECURSE "${case_BUILD_DIR}")
  configure("${code}" ARGS "-DCMAKE_CXX_COMPILER=${clang}")
  expect_stdout("add_torch_op\\(stable\\): clang's OpenMP uses another runtime, libomp, than torch, libgomp")
  case_build(ARGS --verbose)
  expect_links("-fopenmp")
  case_ctest()
endif()

# No libgomp in torch, and no torch at all: the compiler's.
file(REMOVE "${lib}/libgomp.so.1")
foreach(torch IN ITEMS TRUE FALSE)
  file(REMOVE_RECURSE "${case_BUILD_DIR}")
  if(NOT torch)
    file(REMOVE_RECURSE "${lib}/..")
  endif()
  configure("${code}")
  case_build(ARGS --verbose)
  expect_links("-fopenmp")
  case_ctest()
endforeach()
