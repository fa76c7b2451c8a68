# For ROCm, with the real compiler: the shards are translated, and find the template in its mirror.
if(NOT EXISTS /usr/bin/hipcc OR NOT EXISTS /usr/lib/x86_64-linux-gnu/libamdhip64.so)
  case_skip("Debian's hipcc and libamdhip64-dev are not installed here")
  return()
endif()
set(case_GENERATOR Ninja)
real_machine()
if(NOT real_TORCH)
  return()
endif()
file(
  WRITE "${case_DIR}/src/scale.cuh"
  "#include <cuda_runtime.h>\ntemplate <class T, int N>\n__global__ void scale_kernel(T* x) { x[threadIdx.x] *= N; }\ntemplate <class T, int N>\nvoid scale(T* x) { scale_kernel<T, N><<<1, 32>>>(x); }\n"
)
project_says(
  [==[
cudaops_shard_instantiations(
  shards
  TEMPLATE scale.cuh
  INSTANTIATIONS "template void scale<float, 2>(float*)" "template void scale<double, 2>(double*)"
)
cudaops_add_kernels(scale SHARED CUDA_CUBINS SOURCES ${shards})
]==]
)
case_configure(ARGS -DCUDAOPS_BACKEND=HIP -DROCm_ROOT=/usr -DCMAKE_HIP_ARCHITECTURES=gfx90a -DCMAKE_BUILD_TYPE=Release)
expect_target(scale state BUILT architectures gfx90a)
case_build(ARGS --parallel 2)
case_step(symbols COMMAND nm -C --defined-only "${case_BUILD_DIR}/libscale.so")
foreach(name IN ITEMS "float, 2" "double, 2")
  string(REGEX MATCHALL " [TW] void scale<${name}>" found "${case_STEP_STDOUT}")
  list(LENGTH found count)
  case_equal("scale<${name}>" "${count}" 1)
endforeach()
