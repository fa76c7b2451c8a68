// SPDX-License-Identifier: Apache-2.0
// What the kernels of cross_entropy share: counting the rows that count, the gradient's formula.
#pragma once

#include "../common/online_softmax.h"
#include "../common/row.cuh"
#include "cross_entropy.h"

namespace cudaops_kernels {
namespace cross_entropy {

constexpr int kThreads = 256;
// Rows are counted and summed in parts of at least so many.
constexpr int64_t kMinRowsPerPart = 4096;
constexpr int kMaxParts = 32;

inline int num_parts(int64_t num_rows) {
  const int64_t parts = num_rows / kMinRowsPerPart;
  return static_cast<int>(parts < 1 ? 1 : (parts > kMaxParts ? kMaxParts : parts));
}

// A part's rows: a block's.
struct Part {
  int64_t begin, end;
  __device__ __forceinline__ explicit Part(int64_t num_rows) {
    const int64_t size = (num_rows + gridDim.x - 1) / gridDim.x;
    begin = blockIdx.x * size;
    end = begin + size < num_rows ? begin + size : num_rows;
  }
};

// The block's sum; the first thread gets it.
template <typename Value>
__device__ __forceinline__ Value sum_of_block(Value value) {
  __shared__ Value warps[kThreads / 32];
  value = cudaops::warp_sum(value, 32);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  for (unsigned int i = 1; i < kThreads / 32 && threadIdx.x == 0; ++i) value += warps[i];
  return value;
}

// The factor of gradients; every lane of a warp calls it.
__device__ __forceinline__ float gradient_factor(const CrossEntropyProblem& problem,
                                                 const int* counts, int num_counts) {
  if (problem.reduction != Reduction::kMean) return 1;
  const int lane = static_cast<int>((threadIdx.y * blockDim.x + threadIdx.x) % 32);
  return 1 / static_cast<float>(cudaops::warp_sum(lane < num_counts ? counts[lane] : 0, 32));
}

// What a logit becomes before anything else.
__device__ __forceinline__ float capped(const CrossEntropyProblem& problem, float logit) {
  const float cap = problem.softcap;
  if (cap == 0) return logit;
  // tanh(x) = 2 * logistic(2 * x) - 1: exact to a step of `cap`.
  return cap * (2 * detail::logistic2(logit * (2 * kLog2E / cap)) - 1);
}
// Where the row has no logit minus infinity stays.
template <typename Numbers, typename Place>
__device__ __forceinline__ Numbers capped(const CrossEntropyProblem& problem, const Numbers& logits,
                                          const Place& place) {
  if (problem.softcap == 0) return logits;
  Numbers result;
#pragma unroll
  for (int k = 0; k < Numbers::kSize; ++k) {
    result[k] = place.holds(k) ? capped(problem, logits[k]) : logits[k];
  }
  return result;
}

// The gradient of a row_loss by a vector of logits, times `factor`; z: the same, capped.
template <typename Place, typename Numbers>
__device__ __forceinline__ Numbers gradient(const CrossEntropyProblem& problem,
                                            const Numbers& probabilities, const Numbers& z,
                                            const Place& place, int64_t target, float lse,
                                            float factor) {
  const float scale = factor * (1 + 2 * problem.lse_square_scale * lse);
  const float smoothing =
      factor * problem.label_smoothing / static_cast<float>(problem.num_classes);
  Numbers grad = probabilities * scale - smoothing;
  const int64_t k_of_target = target - place.column;
  if (k_of_target >= 0 && k_of_target < Numbers::kSize) {
#pragma unroll
    for (int k = 0; k < Numbers::kSize; ++k) {
      if (k == k_of_target) grad[k] -= factor * (1 - problem.label_smoothing);
    }
  }
  if (problem.softcap != 0) {
    const float inverse = 1 / problem.softcap;
    grad = map([&](float g, float c) { return g * (1 - c * inverse * (c * inverse)); }, grad, z);
  }
  return grad;
}

struct Workspace {
  double* sums;
  int* counts;
  explicit Workspace(void* data)
      : sums(static_cast<double*>(data)), counts(reinterpret_cast<int*>(sums + kMaxParts)) {}
};

// Launches nothing where the rows' number is not asked for.
void count_targets(const CrossEntropyProblem& problem, int* counts, cudaStream_t stream);

}  // namespace cross_entropy
}  // namespace cudaops_kernels
