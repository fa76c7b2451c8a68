// Every kind of thing that host code knows of device code by name: kernels of all linkages and of
// templates, variables that the host reads and writes, code that names the whole list of
// architectures.
#include "kinds.h"

#define JOIN_NOW(a, b) a##b
#define JOIN(a, b) JOIN_NOW(a, b)
#define FIRST(a, ...) a
#define FIRST_OF_LIST(...) JOIN(archs_from_, FIRST(__VA_ARGS__, 0))

__device__ int counter = 3;
__constant__ float weights[4] = {1, 2, 3, 4};
static __device__ int hidden = 4;
__managed__ int managed = 5;

#define ARCHS FIRST_OF_LIST(__CUDA_ARCH_LIST__)

inline namespace ARCHS {
template <class T>
__global__ void typed(T* x) {
  __shared__ T tile[32];
  static const int local = 7;
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  x[0] = NEW_VALUE + tile[local];
#else
  x[0] = 2 + tile[31 - local];
#endif
  counter += hidden + managed;
}
}  // namespace ARCHS
namespace {
__global__ void anonymous(int* p) { p[0] = hidden; }
}  // namespace
static __global__ void internal(int* p) { p[1] = hidden; }

struct Functor {
  __device__ float operator()(float x) const { return x * weights[1]; }
};
template <class F>
__global__ void applied(float* x, F f) {
  x[threadIdx.x] = f(x[threadIdx.x]);
}

extern "C" int launch_kinds(int* p, float* x, double* d) {
  typed<<<1, 32>>>(x);
  typed<<<1, 32>>>(d);
  anonymous<<<1, 1>>>(p);
  internal<<<1, 1>>>(p);
  applied<<<1, 32>>>(x, Functor());
  applied<<<1, 32>>>(x, [] __device__(float v) { return v + 1; });
  int value = 0;
  cudaMemcpyFromSymbol(&value, counter, sizeof(value));
  int more = 0;
  cudaMemcpyFromSymbol(&more, hidden, sizeof(more));
  return value + more;
}

// What the kernels leave, or the number of a CUDA error.
extern "C" int run_kinds(double* values) {
  int* p = nullptr;
  float* x = nullptr;
  double* d = nullptr;
  cudaMalloc(&p, 4 * sizeof(*p));
  cudaMalloc(&x, 32 * sizeof(*x));
  cudaMalloc(&d, 32 * sizeof(*d));
  float host_x[32];
  double host_d[32];
  int host_p[4] = {};
  for (int i = 0; i < 32; ++i) host_x[i] = host_d[i] = i;
  cudaMemcpy(p, host_p, sizeof(host_p), cudaMemcpyHostToDevice);
  cudaMemcpy(x, host_x, sizeof(host_x), cudaMemcpyHostToDevice);
  cudaMemcpy(d, host_d, sizeof(host_d), cudaMemcpyHostToDevice);
  values[0] = launch_kinds(p, x, d);
  cudaMemcpy(host_p, p, sizeof(host_p), cudaMemcpyDeviceToHost);
  cudaMemcpy(host_x, x, sizeof(host_x), cudaMemcpyDeviceToHost);
  cudaMemcpy(host_d, d, sizeof(host_d), cudaMemcpyDeviceToHost);
  values[1] = host_p[0];
  values[2] = host_p[1];
  for (int i = 0; i < 3; ++i) values[3 + i] = host_x[i];
  for (int i = 0; i < 2; ++i) values[6 + i] = host_d[i];
  return cudaGetLastError();
}
