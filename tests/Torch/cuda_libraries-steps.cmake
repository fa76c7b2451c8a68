# CUDA's libraries are those that torch loads, by SONAME; one of another SONAME says so where it is used.
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
  if(TARGET CudaOps::${name})
    get_target_property(location CudaOps::${name} IMPORTED_LOCATION)
    cmake_path(GET location FILENAME file)
    message(STATUS "${name}=${file}=")
  endif()
endforeach()
_cudaops_conflicting_library(odd libodd.so.12 "/elsewhere/libodd.so.13")
add_library(user OBJECT user.cpp)
target_link_libraries(user PRIVATE CudaOps::odd)
]==]
)
file(WRITE "${case_PROJECT_DIR}/user.cpp" "")
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
case_build(RESULT 1)
case_match(
  "a library of another SONAME"
  "${case_STEP_STDOUT}"
  "CudaOps::odd: torch [^ ]+ loads libodd.so.12, and here is only /elsewhere/libodd.so.13. Install the one that torch loads."
)
