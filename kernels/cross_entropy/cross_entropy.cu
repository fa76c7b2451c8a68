// SPDX-License-Identifier: Apache-2.0
// cross_entropy on CUDA devices: the loss, with or without the gradient. Together they move
// 2 * sizeof(T) bytes an element, the loss alone 1: each row is read once and stays in registers.
#include "cross_entropy.cuh"

namespace cudaops_kernels {
namespace cross_entropy {
namespace {

// counts[part]: its rows that count.
__global__ void __launch_bounds__(kThreads)
    count_targets_kernel(const CrossEntropyProblem problem, int* counts) {
  const Part part(problem.num_rows);
  int count = 0;
#pragma unroll 8
  for (int64_t index = part.begin + threadIdx.x; index < part.end; index += kThreads) {
    count += target_of(problem, index) != problem.ignore_index ? 1 : 0;
  }
  count = sum_of_block(count);
  if (threadIdx.x == 0) counts[blockIdx.x] = count;
}

struct LossSums {
  const CrossEntropyProblem problem;
  const float* row_loss;
  const int* counts;
  double* sums;
  float* loss;

  __device__ __forceinline__ void finish(double sum, int64_t count) const {
    const bool is_mean = problem.reduction == Reduction::kMean;
    *loss = static_cast<float>(is_mean ? sum / static_cast<double>(count) : sum);
  }
};

// sums[part] of row_loss; the loss itself where there is one part.
__global__ void __launch_bounds__(kThreads) sum_losses_kernel(const LossSums call) {
  const Part part(call.problem.num_rows);
  double sum = 0;
#pragma unroll 8
  for (int64_t index = part.begin + threadIdx.x; index < part.end; index += kThreads) {
    sum += call.row_loss[index];
  }
  sum = sum_of_block(sum);
  if (threadIdx.x != 0) return;
  if (gridDim.x == 1) {
    call.finish(sum, call.problem.reduction == Reduction::kMean ? call.counts[0] : 0);
  } else {
    call.sums[blockIdx.x] = sum;
  }
}

__global__ void finish_loss_kernel(const LossSums call, int num_parts) {
  double sum = 0;
  int64_t count = 0;
  for (int part = 0; part < num_parts; ++part) {
    sum += call.sums[part];
    if (call.problem.reduction == Reduction::kMean) count += call.counts[part];
  }
  call.finish(sum, count);
}

}  // namespace

struct LogitSums {
  OnlineSoftmax softmax;
  float total = 0;
};

template <typename T, bool kGradient, bool kSoftcap>
struct Forward {
  using Element = T;
  static constexpr int kNumTiles = kGradient && !kSoftcap ? 1 : 0;
  static constexpr bool kReadsColumns = false;
  CrossEntropy call;
  const int* counts;
  int num_counts;

  template <typename Row>
  __device__ __forceinline__ void operator()(Row& row) const {
    const CrossEntropyProblem& problem = call.problem;
    const int64_t ignored = problem.ignore_index;
    int64_t target = ignored;
    if (row.exists()) target = target_early(problem, row.index());
    const auto logits = row.load_visible(problem.logits, row.width(), -INFINITY);
    // Before the row's first barrier, behind which the gradient may overwrite it.
    float target_logit = 0;
    if (target != ignored && is_class(problem, target)) {
      target_logit = to_float(problem.logits.template row<T>(row.index())[target]);
    }
    float factor = 1;
    if constexpr (kGradient) factor = gradient_factor(problem, counts, num_counts);

    LogitSums sums;
    row.each([&](const auto& place) {
      const auto z = capped<kSoftcap>(problem, logits.at(place), place);
      sums.softmax.raise_max(largest(z) * kLog2E);
      const float shift = sums.softmax.shift();
      sums.softmax.sum +=
          total(map([&](float x) { return detail::exp2_of(fmaf(x, kLog2E, -shift)); }, z));
    });
    if (problem.label_smoothing != 0) {
      row.each([&](const auto& place) {
        const auto z = capped<kSoftcap>(problem, logits.at(place), place);
#pragma unroll
        for (int k = 0; k < Row::kSize; ++k) sums.total += place.holds(k) ? z[k] : 0;
      });
    }
    sums = row.reduce(sums, LogitSums(), [](const LogitSums& a, const LogitSums& b) {
      return LogitSums{merged(a.softmax, b.softmax), a.total + b.total};
    });

    const float shift = sums.softmax.shift();
    const float lse = shift * kLn2 + logf(sums.softmax.sum);
    if (row.is_leader()) {
      const float of_target = capped<kSoftcap>(problem, target_logit);
      const float smoothing = problem.label_smoothing;
      float loss = lse - (1 - smoothing) * of_target + problem.lse_square_scale * lse * lse;
      if (smoothing != 0) loss -= smoothing * (sums.total / static_cast<float>(row.width()));
      if (!is_class(problem, target)) loss = NAN;
      call.row_loss[row.index()] = target == ignored ? 0 : loss;
      call.lse[row.index()] = target == ignored ? 0 : lse;
    }
    if constexpr (kGradient) {
      if (!is_class(problem, target)) factor = NAN;
      const GradientTerms terms(problem, shift, sums.softmax.sum, lse, factor);
      store_gradient<kSoftcap, T>(problem, row, logits, target, target_logit, terms,
                                  call.grad_logits);
    }
  }
};

struct LaunchForward {
  template <typename T>
  static void run(const CrossEntropy& call, const Workspace& workspace, cudaStream_t stream) {
    const CrossEntropyProblem& problem = call.problem;
    const int parts = num_parts(problem.num_rows);
    RowGrid grid{problem.num_rows, problem.num_classes, call.grad_logits};
    const bool aligned = rows_are_aligned<T>(problem.logits);
    if (call.grad_logits.data != nullptr) {
      const bool both_aligned = aligned && rows_are_aligned<T>(call.grad_logits);
      if (problem.softcap != 0) {
        launch_rows(Forward<T, true, true>{call, workspace.counts, parts}, grid, both_aligned,
                    stream);
      } else {
        launch_rows(Forward<T, true, false>{call, workspace.counts, parts}, grid, both_aligned,
                    stream);
      }
      return;
    }
    grid.anchor = {const_cast<void*>(problem.logits.data), problem.logits.stride};
    if (problem.softcap != 0) {
      launch_rows(Forward<T, false, true>{call, workspace.counts, parts}, grid, aligned, stream);
    } else {
      launch_rows(Forward<T, false, false>{call, workspace.counts, parts}, grid, aligned, stream);
    }
  }
};

void count_targets(const CrossEntropyProblem& problem, int* counts, cudaStream_t stream) {
  if (problem.reduction != Reduction::kMean) return;
  count_targets_kernel<<<num_parts(problem.num_rows), kThreads, 0, stream>>>(problem, counts);
  CUDAOPS_CHECK_LAUNCH();
}

}  // namespace cross_entropy

int64_t cross_entropy_workspace_bytes(int64_t) {
  return cross_entropy::kMaxParts * int64_t{sizeof(double) + sizeof(int)};
}

void launch_cross_entropy(const CrossEntropy& call, void* workspace, void* stream) {
  const CrossEntropyProblem& problem = call.problem;
  const cudaStream_t cuda_stream = static_cast<cudaStream_t>(stream);
  const cross_entropy::Workspace parts(workspace);
  cross_entropy::count_targets(problem, parts.counts, cuda_stream);
  for_device_type<cross_entropy::LaunchForward>(problem.dtype, call, parts, cuda_stream);
  if (problem.reduction == Reduction::kNone) return;
  const int num_sums = cross_entropy::num_parts(problem.num_rows);
  const cross_entropy::LossSums sums{problem, call.row_loss, parts.counts, parts.sums, call.loss};
  cross_entropy::sum_losses_kernel<<<num_sums, cross_entropy::kThreads, 0, cuda_stream>>>(sums);
  CUDAOPS_CHECK_LAUNCH();
  if (num_sums == 1) return;
  cross_entropy::finish_loss_kernel<<<1, 1, 0, cuda_stream>>>(sums, num_sums);
  CUDAOPS_CHECK_LAUNCH();
}

}  // namespace cudaops_kernels
