// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>
#include <cudaops/check.h>
#include <cudaops/gpu_compat.h>

#include "gpu_compat_cases.h"

namespace cudaops_tests {
namespace {

// A constant, as arrays and template arguments need it.
template <int kSize>
__device__ int as_template_argument() {
  return kSize;
}

template <typename T>
__device__ T from_lane_above(T value) {
  return cudaops::shfl_down(value, 1);
}

struct ThreeWords {
  int words[3];
};

struct Product {
  __device__ unsigned int operator()(unsigned int a, unsigned int b) const { return a * b; }
};

constexpr int kMostThreads = 1024;

__global__ void __launch_bounds__(kMostThreads)
    warp_case_kernel(WarpCase which, const int* input, int* out) {
  const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  const int value = input[thread];
  const bool odd = value % 2 != 0;
  int result = 0;
  switch (which) {
    case WarpCase::kWarpSize:
      result = as_template_argument<cudaops::warp_size()>();
      break;
    case WarpCase::kDeviceCode:
      result = CUDAOPS_DEVICE_CODE;
      break;
    case WarpCase::kLaneId:
      result = cudaops::lane_id();
      break;
    case WarpCase::kActiveLanes: {
      // Whether all that ought to be there are is not promised by CUDA.
      const cudaops::LaneMask odd_lanes = cudaops::ballot(odd);
      if (odd) {
        const cudaops::LaneMask active = cudaops::active_lanes();
        result = (active & ~odd_lanes) == 0 && (active >> cudaops::lane_id()) % 2 == 1;
      }
      break;
    }
    case WarpCase::kShfl:
      result = cudaops::shfl(value, 5);
      break;
    case WarpCase::kShflUp:
      result = cudaops::shfl_up(value, 3);
      break;
    case WarpCase::kShflDown:
      result = cudaops::shfl_down(value, 3);
      break;
    case WarpCase::kShflDownIn8:
      result = cudaops::shfl_down(value, 3, 8);
      break;
    case WarpCase::kShflXor:
      result = cudaops::shfl_xor(value, 5);
      break;
    case WarpCase::kShflXorIn32:
      result = cudaops::shfl_xor(value, 16, 32);
      break;
    case WarpCase::kShflDouble:
      result = static_cast<int>(from_lane_above(value + 0.25) * 4);
      break;
    case WarpCase::kShflBytes: {
      const ThreeWords words = from_lane_above(ThreeWords{{value, value + 1, value + 2}});
      const __half half = from_lane_above(cudaops::from_float<__half>(static_cast<float>(value)));
      const unsigned char byte = from_lane_above(static_cast<unsigned char>(value));
      result = words.words[0] + words.words[1] + words.words[2] +
               static_cast<int>(cudaops::to_float(half)) + byte;
      break;
    }
    case WarpCase::kBallotCount:
      result = cudaops::count_lanes(cudaops::ballot(odd));
      break;
    case WarpCase::kBallotFirst:
      result = cudaops::first_lane(cudaops::ballot(odd));
      break;
    case WarpCase::kBallotBelow:
      if (cudaops::lane_id() < 4) result = cudaops::count_lanes(cudaops::ballot(odd, 0xf));
      break;
    case WarpCase::kAny:
      result = cudaops::any(value > 990);
      break;
    case WarpCase::kAll:
      result = cudaops::all(value < 990);
      break;
    case WarpCase::kAllOfFirst:
      if (cudaops::lane_id() < 4) result = cudaops::all(value < 500, 0xf);
      break;
    case WarpCase::kSum:
      result = cudaops::warp_sum(value);
      break;
    case WarpCase::kSumIn32:
      result = static_cast<int>(cudaops::warp_sum(static_cast<float>(value), 32));
      break;
    case WarpCase::kMax:
      result = cudaops::warp_max(value);
      break;
    case WarpCase::kMinIn8:
      result = static_cast<int>(cudaops::warp_min(static_cast<double>(value), 8));
      break;
    case WarpCase::kReduceProduct:
      result = static_cast<int>(
          cudaops::warp_reduce(static_cast<unsigned int>(value % 3 + 1), Product{}));
      break;
    case WarpCase::kSyncWarp: {
      __shared__ int shared[kMostThreads];
      shared[thread] = value;
      cudaops::sync_warp();
      const int lane = cudaops::lane_id();
      result = shared[thread - lane + cudaops::warp_size() - 1 - lane];
      break;
    }
    case WarpCase::kLdg:
      result = cudaops::ldg(input + thread);
      break;
  }
  out[thread] = result;
}

__global__ void conversions_kernel(const float* input, Converted* out, int num_values) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= num_values) return;
  const auto brain = cudaops::from_float<cudaops::bfloat16>(input[i]);
  const auto half = cudaops::from_float<__half>(input[i]);
  Converted converted;
  memcpy(&converted.bfloat16_bits, &brain, 2);
  memcpy(&converted.float16_bits, &half, 2);
  converted.from_bfloat16 = cudaops::to_float(brain);
  converted.from_float16 = cudaops::to_float(half);
  out[i] = converted;
}

template <typename T>
__device__ T one() {
  return T{1};
}
template <>
__device__ __half one<__half>() {
  return cudaops::from_float<__half>(1);
}
template <>
__device__ cudaops::bfloat16 one<cudaops::bfloat16>() {
  return cudaops::from_float<cudaops::bfloat16>(1);
}

__device__ float widened(int value) { return static_cast<float>(value); }
__device__ float widened(double value) { return static_cast<float>(value); }
template <typename T>
__device__ float widened(T value) {
  return cudaops::to_float(value);
}

template <typename T>
__global__ void atomic_add_kernel(T* cells, int num_cells, float* previous) {
  const int thread = static_cast<int>(threadIdx.x);
  previous[thread] = widened(cudaops::atomic_add(cells + thread % num_cells, one<T>()));
}

template <typename T>
void launch_atomic_add_of(void* cells, int num_cells, float* previous, int num_threads) {
  atomic_add_kernel<T><<<1, num_threads>>>(static_cast<T*>(cells), num_cells, previous);
  CUDAOPS_CHECK_LAUNCH();
}

__global__ void shared_memory_kernel(const int* input, int* out, int num_words) {
  extern __shared__ int shared[];
  // At both ends of what was asked for.
  const int thread = static_cast<int>(threadIdx.x), num_threads = static_cast<int>(blockDim.x);
  shared[num_words - 1 - thread] = input[thread];
  __syncthreads();
  out[thread] = shared[num_words - num_threads + thread];
}

}  // namespace

void launch_warp_case(WarpCase which, const int* input, int* out, int num_threads) {
  const unsigned int width = 8, height = static_cast<unsigned int>(num_threads) / width;
  warp_case_kernel<<<1, dim3(width, height)>>>(which, input, out);
  CUDAOPS_CHECK_LAUNCH();
}

void launch_conversions(const float* input, Converted* out, int num_values) {
  conversions_kernel<<<(num_values + 255) / 256, 256>>>(input, out, num_values);
  CUDAOPS_CHECK_LAUNCH();
}

void launch_atomic_add(AtomicType type, void* cells, int num_cells, float* previous,
                       int num_threads) {
  switch (type) {
    case AtomicType::kInt:
      return launch_atomic_add_of<int>(cells, num_cells, previous, num_threads);
    case AtomicType::kFloat:
      return launch_atomic_add_of<float>(cells, num_cells, previous, num_threads);
    case AtomicType::kDouble:
      return launch_atomic_add_of<double>(cells, num_cells, previous, num_threads);
    case AtomicType::kFloat16:
      return launch_atomic_add_of<__half>(cells, num_cells, previous, num_threads);
    case AtomicType::kBFloat16:
      return launch_atomic_add_of<cudaops::bfloat16>(cells, num_cells, previous, num_threads);
  }
}

void launch_with_shared_memory(const int* input, int* out, int num_threads, int num_bytes) {
  CUDAOPS_CHECK(cudaops::allow_dynamic_shared_memory(shared_memory_kernel, num_bytes));
  shared_memory_kernel<<<1, num_threads, num_bytes>>>(input, out,
                                                      num_bytes / static_cast<int>(sizeof(int)));
  CUDAOPS_CHECK_LAUNCH();
}

int device_code_on_the_host() { return CUDAOPS_DEVICE_CODE; }

}  // namespace cudaops_tests
