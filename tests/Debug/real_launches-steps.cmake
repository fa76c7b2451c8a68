# With CUDAOPS_DEBUG a kernel that fails is named where it was launched: a program with a runtime of its own, whose kernel
# fails when it is waited for. Real headers, --wrap of the real linker; no GPU.
real_machine()
if(NOT real_TORCH)
  return()
endif()
file(
  WRITE "${case_DIR}/src/runtime.cpp"
  [==[
// What check.h needs of the runtime.
#include <cuda_runtime_api.h>
#include <cstring>
int waits = 0;
cudaError_t result = cudaErrorIllegalAddress;
cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
cudaStream_t waited = nullptr;
extern "C" {
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorName(cudaError_t) { return "cudaErrorIllegalAddress"; }
const char* cudaGetErrorString(cudaError_t) { return "an illegal memory access was encountered"; }
cudaError_t cudaGetDevice(int*) { return cudaErrorNoDevice; }
cudaError_t cudaDeviceGetAttribute(int*, cudaDeviceAttr, int) { return cudaErrorNoDevice; }
cudaError_t cudaDeviceSynchronize() { ++waits; return result; }
cudaError_t cudaStreamSynchronize(cudaStream_t stream) { ++waits; waited = stream; return result; }
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = capture;
  return cudaSuccess;
}
cudaError_t cudaFuncGetName(const char** name, const void*) { *name = "_Z5scalePfl"; return cudaSuccess; }
#define LAUNCH(function, Kernel) \
  cudaError_t function(Kernel, dim3, dim3, void**, size_t, cudaStream_t) { return cudaSuccess; }
LAUNCH(cudaLaunchKernel, const void*)
LAUNCH(cudaLaunchKernel_ptsz, const void*)
LAUNCH(cudaLaunchCooperativeKernel, const void*)
LAUNCH(cudaLaunchCooperativeKernel_ptsz, const void*)
LAUNCH(__cudaLaunchKernel, cudaKernel_t)
LAUNCH(__cudaLaunchKernel_ptsz, cudaKernel_t)
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void*, void**) { return cudaSuccess; }
cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t*, const void*, void**) { return cudaSuccess; }
}
]==]
)
file(
  WRITE "${case_DIR}/src/program.cpp"
  [==[
#include <cudaops/check.h>
#include <cstdio>
#include <cstring>
#include <stdexcept>
extern int waits;
extern cudaError_t result;
extern cudaStreamCaptureStatus capture;
extern cudaStream_t waited;
extern "C" cudaError_t cudaLaunchKernel_ptsz(const void*, dim3, dim3, void**, size_t, cudaStream_t);
char kernel;
const char* said(void (*launch)()) {
  static char text[2048];
  try {
    launch();
    return "nothing";
  } catch (const std::runtime_error& error) {
    return strcpy(text, error.what());
  }
}
void launch_scale() {
  cudaLaunchKernel(&kernel, dim3(4), dim3(32, 8), nullptr, 0, nullptr);
  CUDAOPS_CHECK_LAUNCH();
}
void launch_twice() {
  cudaLaunchKernelExC(new cudaLaunchConfig_t{dim3(1), dim3(1)}, &kernel, nullptr);
  cudaLaunchKernel_ptsz(&kernel, dim3(2), dim3(64), nullptr, 0, nullptr);
  CUDAOPS_CHECK_LAUNCH();
}
void launch_elsewhere() { CUDAOPS_CHECK_LAUNCH(); }
int main() {
  printf("%s\n", said(launch_scale));
  printf("%s\n", said(launch_twice));
  printf("stream of the thread: %d\n", waited == cudaStreamPerThread);
  printf("%s\n", said(launch_elsewhere));
  printf("waits: %d\n", waits);
  capture = cudaStreamCaptureStatusActive;
  printf("graph: %s\n", said(launch_scale));
  capture = cudaStreamCaptureStatusNone;
  result = cudaSuccess;
  printf("waits: %d\n", waits);
  printf("right: %s\n", said(launch_scale));
  printf("waits: %d\n", waits);
}
]==]
)
file(WRITE "${case_DIR}/src/main_test.cpp" "int main() {}\n")
configure(
  [==[
cudaops_add_kernels(library SOURCES program.cpp runtime.cpp)
# As the commands do it for what they link.
add_executable(program "${CMAKE_CURRENT_BINARY_DIR}/CudaOps/shared_launches.cpp")
cudaops_add_kernels(shared SHARED SOURCES op.cu)
target_include_directories(program PRIVATE ${CudaTorchMatch_TOOLKIT_ROOT}/include)
get_target_property(options shared LINK_OPTIONS)
list(FILTER options INCLUDE REGEX wrap)
target_link_options(program PRIVATE ${options})
target_link_libraries(program PRIVATE library CudaOps::headers)
]==]
  ARGS -DCMAKE_BUILD_TYPE=Debug -DCUDAOPS_DEBUG=ON -DCMAKE_CUDA_ARCHITECTURES=89-real
)
case_build(ARGS --target program)
case_step(program COMMAND "${case_BUILD_DIR}/program")
expect_stdout(
  "op library: kernel scale\\(float\\*, long\\) <<<\\(4, 1, 1\\), \\(32, 8, 1\\)>>>, launched in launch_scale, failed: cudaErrorIllegalAddress, an illegal memory access was encountered"
  "<<<\\(2, 1, 1\\), \\(64, 1, 1\\)>>>, the last of 2 launches, launched in launch_twice, failed"
  "stream of the thread: 1"
  "op library: a kernel, launched in launch_elsewhere, failed"
  "waits: 3 graph: nothing waits: 3 right: nothing waits: 4"
)

# cudaops/nvtx.h: ranges with CUDAOPS_NVTX, nothing without it.
file(
  WRITE "${case_DIR}/src/ranges.cpp"
  "#include <cudaops/nvtx.h>\nvoid f() {\n  CUDAOPS_RANGE(\"f\");\n  { CUDAOPS_RANGE(\"g\"); }\n}\n"
)
foreach(option IN ITEMS "-DCUDAOPS_NVTX=1" "-DNOTHING")
  case_step(
    compile
    COMMAND
      c++ -Wall -Werror -c "${option}" "-I${case_REPO}/cmake/include" -isystem "${real_TOOLKIT}/include"
      "${case_DIR}/src/ranges.cpp" -o "${case_DIR}/ranges.o"
  )
  case_step(symbols COMMAND nm "${case_DIR}/ranges.o")
  if(option MATCHES "NVTX")
    expect_stdout("nvtx")
  else()
    refuse_stdout("nvtx")
  endif()
endforeach()
