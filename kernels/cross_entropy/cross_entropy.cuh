// SPDX-License-Identifier: Apache-2.0
// What the kernels of cross_entropy share: counting the rows that count, the gradient's formula.
#pragma once

#include "../common/online_softmax.h"
#include "../common/row/dispatch.cuh"
#include "cross_entropy.h"

namespace cudaops_kernels {
namespace cross_entropy {

constexpr int kThreads = 256;
// Up to so many rows each warp that needs to know how many count, counts them while its row is in
// flight: a kernel of its own, before, would take longer. Of 1024 it does not. 2026-11-26.
constexpr int64_t kMaxRowsCountedByAll = 256;
// More are counted in parts of at least so many, and losses are summed in such.
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

// Of the rows from `first` on, one in `step`, those that count.
__device__ __forceinline__ int count_rows(const CrossEntropyProblem& problem, int64_t first,
                                          int64_t end, int step) {
  int count = 0;
#pragma unroll 8
  for (int64_t index = first; index < end; index += step) {
    count += target_of(problem, index) != problem.ignore_index ? 1 : 0;
  }
  return count;
}

// The factor of gradients; every lane of a warp calls it. `counts`: of count_targets().
__device__ __forceinline__ float gradient_factor(const CrossEntropyProblem& problem,
                                                 const int* counts, int num_counts) {
  if (problem.reduction != Reduction::kMean) return 1;
  const int lane = static_cast<int>((threadIdx.y * blockDim.x + threadIdx.x) % 32);
  int count = 0;
  if (problem.num_rows <= kMaxRowsCountedByAll) {
    count = count_rows(problem, lane, problem.num_rows, 32);
  } else if (lane < num_counts) {
    count = counts[lane];
  }
  return 1 / static_cast<float>(cudaops::warp_sum(count, 32));
}

// What logits become before anything else; where the row has none minus infinity stays.
template <bool kSoftcap>
__device__ __forceinline__ float capped(const CrossEntropyProblem& problem, float logit) {
  if constexpr (!kSoftcap) return logit;
  const float cap = problem.softcap;
  // tanh(x) = 2 * logistic(2 * x) - 1: exact to a step of `cap`.
  return cap * (2 * detail::logistic2(logit * (2 * kLog2E / cap)) - 1);
}
template <bool kSoftcap, typename Numbers, typename Place>
__device__ __forceinline__ Numbers capped(const CrossEntropyProblem& problem, const Numbers& logits,
                                          const Place& place) {
  if constexpr (kSoftcap) {
    Numbers result;
#pragma unroll
    for (int k = 0; k < Numbers::kSize; ++k) {
      result[k] = place.holds(k) ? capped<kSoftcap>(problem, logits[k]) : logits[k];
    }
    return result;
  } else {
    return logits;
  }
}

// A row's gradient by its capped logits z, times what follows from them:
//   exp(z - shift) * scale - smoothing, and for the target less `of_target`.
struct GradientTerms {
  float shift;  // in powers of two
  float scale;
  float smoothing;
  float of_target;

  // sum: of exp(z - shift); factor: of the row's loss.
  __device__ __forceinline__ GradientTerms(const CrossEntropyProblem& problem, float shift,
                                           float sum, float lse, float factor)
      : shift(shift),
        scale(factor * (1 + 2 * problem.lse_square_scale * lse) / sum),
        smoothing(factor * problem.label_smoothing / static_cast<float>(problem.num_classes)),
        of_target(factor * (1 - problem.label_smoothing)) {}

  template <bool kSoftcap>
  __device__ __forceinline__ float at(const CrossEntropyProblem& problem, float z,
                                      bool is_target) const {
    float grad = fmaf(detail::exp2_of(fmaf(z, kLog2E, -shift)), scale, -smoothing);
    if (is_target) grad -= of_target;
    if constexpr (kSoftcap) {
      const float share = z / problem.softcap;
      grad *= 1 - share * share;
    }
    return grad;
  }
};

// Writes a row's gradient: zeros where it is ignored.
template <bool kSoftcap, typename T, typename Row>
__device__ __forceinline__ void store_gradient(const CrossEntropyProblem& problem, const Row& row,
                                               const typename Row::Tile& logits, int64_t target,
                                               float target_logit, const GradientTerms& terms,
                                               const Rows& grad_logits) {
  const bool counts = target != problem.ignore_index;
  row.each_of(logits, [&](const auto& place, const auto& x) {
    const auto z = capped<kSoftcap>(problem, x, place);
    const auto grad =
        map([&](float x) { return terms.template at<kSoftcap>(problem, x, false); }, z);
    row.store(grad_logits, place, counts ? grad : typename Row::Numbers());
  });
  // Over what the same thread has just written: to ask each vector for its target costs more.
  if (counts && is_class(problem, target) && row.owns(target)) {
    const float z = capped<kSoftcap>(problem, target_logit);
    grad_logits.template row<T>(row.index())[target] =
        from_float<T>(terms.template at<kSoftcap>(problem, z, true));
  }
}

// Early, as a row's other loads are: what follows waits for it.
__device__ __forceinline__ int64_t load_target_ordered(const CrossEntropyProblem& problem,
                                                       int64_t index) {
#if CUDAOPS_HIP || !CUDAOPS_DEVICE_CODE
  return target_of(problem, index);
#else
  if (problem.target_is_int32) {
    int32_t target;
    asm volatile(
        "ld.global.s32 %0, [%1];"
        : "=r"(target)
        : "l"(__cvta_generic_to_global(static_cast<const int32_t*>(problem.target) + index)));
    return target;
  }
  int64_t target;
  asm volatile(
      "ld.global.s64 %0, [%1];"
      : "=l"(target)
      : "l"(__cvta_generic_to_global(static_cast<const int64_t*>(problem.target) + index)));
  return target;
#endif
}

struct Workspace {
  double* sums;
  int* counts;
  explicit Workspace(void* data)
      : sums(static_cast<double*>(data)), counts(reinterpret_cast<int*>(sums + kMaxParts)) {}
};

// For gradient_factor(). Launches nothing where that doesn't ask for it.
void count_targets(const CrossEntropyProblem& problem, int* counts, cudaStream_t stream);

}  // namespace cross_entropy
}  // namespace cudaops_kernels
