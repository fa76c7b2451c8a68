// SPDX-License-Identifier: Apache-2.0
// cross_entropy on CUDA devices: the gradient alone, which moves 2 * sizeof(T) bytes an element,
// and the product of a gradient and what comes from behind the loss.
#include "cross_entropy.cuh"

namespace cudaops_kernels {
namespace cross_entropy {
namespace {

template <typename T, bool kSoftcap>
struct Backward {
  using Element = T;
  static constexpr int kNumTiles = 0;
  static constexpr bool kReadsColumns = false;
  static constexpr bool kCallsNoReduction = true;
  CrossEntropyBackward call;
  const int* counts;
  int num_counts;

  template <typename Row>
  __device__ __forceinline__ void operator()(Row& row) const {
    const CrossEntropyProblem& problem = call.problem;
    const int64_t ignored = problem.ignore_index;
    int64_t target = ignored;
    if (row.exists()) target = load_target_ordered(problem, row.index());
    const auto logits = row.load_visible(problem.logits, row.width(), -INFINITY);
    float factor = gradient_factor(problem, counts, num_counts);
    float lse = 0, target_logit = 0;
    if (target != ignored) {
      factor *= call.grad_loss[problem.reduction == Reduction::kNone ? row.index() : 0];
      lse = call.lse[row.index()];
    }
    if (is_class(problem, target) && row.owns(target)) {
      target_logit = to_float(problem.logits.template row<T>(row.index())[target]);
    }
    if (!is_class(problem, target)) factor = NAN;
    const GradientTerms terms(problem, lse * kLog2E, 1, lse, factor);
    store_gradient<kSoftcap, T>(problem, row, logits, target, target_logit, terms,
                                call.grad_logits);
  }
};

// One row after the other, so that a factor of 1 costs next to nothing.
template <typename T>
__global__ void __launch_bounds__(kThreads) scale_kernel(const CrossEntropyScale call) {
  constexpr int kSize = Vector<T>::kSize;
  for (int64_t index = blockIdx.x; index < call.num_rows; index += gridDim.x) {
    const float factor = call.grad_loss[call.one_a_row ? index : 0];
    if (factor == 1) continue;
    const bool keeps_zeros = !isnan(factor);
    const auto scaled = [=](float x) { return keeps_zeros && x == 0 ? x : x * factor; };
    T* const row = call.grad_logits.row<T>(index);
    const int shift = static_cast<int>(reinterpret_cast<uintptr_t>(row) % 16 / sizeof(T));
    const int64_t width = call.num_classes;
    Packed* const vectors = reinterpret_cast<Packed*>(row - shift);
#pragma unroll 4
    for (int64_t i = threadIdx.x; i * kSize - shift < width; i += kThreads) {
      const int64_t column = i * kSize - shift;
      if (column >= 0 && column + kSize <= width) {
        vectors[i] = pack<T>(map(scaled, unpack<T>(vectors[i])));
        continue;
      }
      const int begin = column < 0 ? static_cast<int>(-column) : 0;
      const int end = width - column < kSize ? static_cast<int>(width - column) : kSize;
      for (int k = begin; k < end; ++k) {
        row[column + k] = from_float<T>(scaled(to_float(row[column + k])));
      }
    }
  }
}

struct LaunchBackward {
  template <typename T>
  static void run(const CrossEntropyBackward& call, const Workspace& workspace,
                  cudaStream_t stream) {
    const CrossEntropyProblem& problem = call.problem;
    const int parts = num_parts(problem.num_rows);
    const RowGrid grid{problem.num_rows, problem.num_classes, call.grad_logits};
    const bool aligned =
        rows_are_aligned<T>(problem.logits) && rows_are_aligned<T>(call.grad_logits);
    if (problem.softcap != 0) {
      launch_rows(Backward<T, true>{call, workspace.counts, parts}, grid, aligned, stream);
    } else {
      launch_rows(Backward<T, false>{call, workspace.counts, parts}, grid, aligned, stream);
    }
  }
};

struct LaunchScale {
  template <typename T>
  static void run(const CrossEntropyScale& call, cudaStream_t stream) {
    constexpr int64_t kMaxBlocks = 1024;
    const unsigned int blocks =
        static_cast<unsigned int>(call.num_rows < kMaxBlocks ? call.num_rows : kMaxBlocks);
    scale_kernel<T><<<blocks, kThreads, 0, stream>>>(call);
    CUDAOPS_CHECK_LAUNCH();
  }
};

}  // namespace
}  // namespace cross_entropy

void launch_cross_entropy_backward(const CrossEntropyBackward& call, void* workspace,
                                   void* stream) {
  const cudaStream_t cuda_stream = static_cast<cudaStream_t>(stream);
  const cross_entropy::Workspace parts(workspace);
  if (call.problem.num_rows == 0) return;
  cross_entropy::count_targets(call.problem, parts.counts, cuda_stream);
  for_device_type<cross_entropy::LaunchBackward>(call.problem.dtype, call, parts, cuda_stream);
}

void launch_cross_entropy_scale(const CrossEntropyScale& call, void* stream) {
  if (call.num_rows == 0) return;  // a grid of 0 blocks is a launch error
  for_device_type<cross_entropy::LaunchScale>(call.dtype, call, static_cast<cudaStream_t>(stream));
}

}  // namespace cudaops_kernels
