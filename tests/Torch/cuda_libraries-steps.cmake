# CUDA's libraries are those that torch loads, by SONAME; one of another SONAME says so where it is used. Their headers
# are of the same copy, and all other headers are the toolkit's: CCCL and the runtime refuse those of another release.
need_toolkit()
need_cuda_torch()
torch_facts()
file(
  WRITE "${case_PROJECT_DIR}/CMakeLists.txt"
  [==[
cmake_minimum_required(VERSION 3.25)
project(libraries LANGUAGES CXX)
find_package(CudaOps REQUIRED)
find_package(CudaTorchMatch REQUIRED)
foreach(name IN ITEMS cublas cublasLt cusparse cusolver cufft nvrtc cudnn nccl)
  get_target_property(location CudaOps::${name} IMPORTED_LOCATION)
  if(location)
    cmake_path(GET location FILENAME file)
    message(STATUS "${name}=${file}=")
  endif()
endforeach()
cudaops_add_kernels(kernels SOURCES kernels.cu)
add_executable(user user.cpp)
target_link_libraries(user PRIVATE kernels CudaOps::cuda_headers CudaOps::cudart)
foreach(name IN ITEMS cublas cublasLt cusparse cusolver cufft cudnn nccl)
  get_target_property(location CudaOps::${name} IMPORTED_LOCATION)
  if(location)
    string(TOUPPER ${name} upper)
    target_compile_definitions(kernels PRIVATE HAVE_${upper})
    target_link_libraries(kernels PRIVATE CudaOps::${name})
    target_link_libraries(user PRIVATE CudaOps::${name})
    target_compile_definitions(user PRIVATE HAVE_${upper})
  endif()
endforeach()
]==]
)
set(
  headers
  [==[
#if defined(HAVE_CUBLAS)
#include <cublas_v2.h>
#endif
#if defined(HAVE_CUBLASLT)
#include <cublasLt.h>
#endif
#if defined(HAVE_CUSPARSE)
#include <cusparse.h>
#endif
#if defined(HAVE_CUSOLVER)
#include <cusolverDn.h>
#include <cusolverSp.h>
#endif
#if defined(HAVE_CUFFT)
#include <cufftXt.h>
#endif
#if defined(HAVE_CUDNN)
#include <cudnn.h>
#endif
#if defined(HAVE_NCCL)
#include <nccl.h>
#endif
#include <cuda_fp16.h>
#include <cuda_runtime.h>
]==]
)
# CCCL compares its headers' release with nvcc's; the host's view of the runtime is compared with nvcc's, and the release
# of cuBLAS' headers, in both, with what the library says of itself.
file(
  WRITE "${case_PROJECT_DIR}/kernels.cu"
  "${headers}"
  [==[
#include <cuda/std/cstdint>
static_assert(CUDART_VERSION / 10 == __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__, "headers of another release");
int runtime() { return CUDART_VERSION; }
int cublas_of_nvcc() {
#if defined(HAVE_CUBLAS)
  return CUBLAS_VERSION;
#else
  return 0;
#endif
}
]==]
)
file(
  WRITE "${case_PROJECT_DIR}/user.cpp"
  "${headers}"
  [==[
#include <cstdio>
int runtime();
int cublas_of_nvcc();
int main() {
  int result = runtime() == CUDART_VERSION ? 0 : 1;
#if defined(HAVE_CUBLAS)
  int version[3] = {};
  for (int i = 0; i < 3; ++i) cublasGetProperty(static_cast<libraryPropertyType>(i), &version[i]);
  std::printf("cuBLAS %d.%d.%d, headers %d and %d\n", version[0], version[1], version[2], CUBLAS_VERSION, cublas_of_nvcc());
  if (CUBLAS_VER_MAJOR != version[0] || CUBLAS_VER_MINOR != version[1] || CUBLAS_VERSION != cublas_of_nvcc()) result |= 2;
#endif
  return result;
}
]==]
)
case_configure(
  ARGS "-DCudaOps_ROOT=${case_REPO}" "-DPython_EXECUTABLE=${case_TORCH}" -DCMAKE_CUDA_ARCHITECTURES=90
    "-DCUDAOPS_COMPATIBLE_VERSIONS=${toolkit_RELEASE}:${torch_CUDA}"
)
set(listing "${case_STEP_STDOUT}")
file(GLOB wheels "${torch_DIR}/../nvidia/*/lib/libcublas.so.*")
if(wheels)
  execute_process(COMMAND readelf -d "${torch_DIR}/lib/libtorch_cuda.so" OUTPUT_VARIABLE dynamic)
  foreach(
    name
    IN
    ITEMS cublas cublasLt cusparse cufft cudnn nccl
  )
    if(dynamic MATCHES "\\[(lib${name}\\.so\\.[0-9]+)\\]")
      case_match("${name}" "${listing}" "-- ${name}=${CMAKE_MATCH_1}=")
    endif()
  endforeach()
  case_match("nvrtc" "${listing}" "-- nvrtc=libnvrtc\\.so\\.1[23]=")
endif()
case_build()
case_step(user COMMAND "${case_BUILD_DIR}/user")
