# Other architectures compile no host file again: what check.h says that a library holds is a constant of its own. It says
# so in every file of the library, host files too.
real_machine()
if(NOT real_TORCH)
  return()
endif()
string(
  CONCAT text
  "#include <cudaops/check.h>\n"
  "extern \"C\" const char* NAME() {\n"
  "  static const auto text = cudaops::launch_error_text(CUDAOPS_CHECK_OP, CUDAOPS_CHECK_ARCHITECTURES, \"here\",\n"
  "      cudaops::LaunchError::kNoKernelImage, \"\", cudaops::Device{});\n"
  "  return text.c_str();\n}\n"
)
foreach(
  file
  IN
  ITEMS host.cpp device.cu op.cpp op_cuda.cpp op.cu
)
  string(MAKE_C_IDENTIFIER "${file}" name)
  string(REPLACE "NAME" "${name}" own "${text}")
  file(WRITE "${case_DIR}/src/${file}" "${own}")
endforeach()
file(
  WRITE "${case_DIR}/src/main.cpp"
  [==[
#include <cstdio>
extern "C" const char* host_cpp();
extern "C" const char* device_cu();
int main() { std::printf("%s\n%s\n", host_cpp(), device_cu()); }
]==]
)
set(
  code
  [==[
cudaops_add_kernels(my-kernels STATIC SOURCES host.cpp device.cu)
add_executable(main main.cpp)
target_link_libraries(main PRIVATE my-kernels)
add_torch_op(my_op SOURCES op.cpp CUDA_SOURCES op_cuda.cpp op.cu)
target_compile_options(my_op PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Werror>")
]==]
)
function(expect_held archs)
  set(rest "${archs}, which this device can't run: rebuild with -DCMAKE_CUDA_ARCHITECTURES=native")
  case_step(main COMMAND "${case_BUILD_DIR}/main")
  expect_stdout("op my-kernels holds ${rest} op my-kernels holds ${rest}")
  case_step(
    op
    COMMAND
      "${real_TORCH}" -c
      "import ctypes
op = ctypes.CDLL('${case_BUILD_DIR}/libmy_op.so')
for name in ('op_cpp', 'op_cuda_cpp', 'op_cu'):
    function = getattr(op, name)
    function.restype = ctypes.c_char_p
    print(function().decode())"
  )
  expect_stdout("op my_op holds ${rest} op my_op holds ${rest} op my_op holds ${rest}")
endfunction()
configure("${code}" ARGS -DCMAKE_CUDA_ARCHITECTURES=90)
case_build()
expect_held("sm_90, PTX 90")

configure("${code}" ARGS "-DCMAKE_CUDA_ARCHITECTURES=80-real;90-real")
case_build(ARGS --verbose)
string(REGEX MATCHALL "-c [^\n]*/[^/ \n]+\\.cpp(\n|$|[ '\"])" compiled "${case_STEP_STDOUT}")
list(TRANSFORM compiled REPLACE "^.*/([^/ \n]+\\.cpp).*$" "\\1")
list(SORT compiled)
case_equal(
  "host files that are compiled again"
  "${compiled}"
  "my-kernels_architectures.cpp;my_op_provenance.cpp"
)
expect_held("sm_80, sm_90")
