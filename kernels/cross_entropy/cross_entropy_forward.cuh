// SPDX-License-Identifier: Apache-2.0
// The kernels of cross_entropy's forward pass, with and without the gradient.
#pragma once

#include "cross_entropy.cuh"

namespace cudaops_kernels {
namespace cross_entropy {

struct LogitSums {
  OnlineSoftmax softmax;
  float total = 0;
};

template <typename T, bool kGradient, bool kSoftcap>
struct Forward {
  using Element = T;
  static constexpr int kNumTiles = kGradient && !kSoftcap ? 1 : 0;
  static constexpr bool kReadsColumns = false;
  static constexpr bool kKeepsWholeRows = !kGradient && !kSoftcap;
  CrossEntropy call;
  const int* counts;
  int num_counts;

  template <typename Row>
  __device__ __forceinline__ void operator()(Row& row) const {
    const CrossEntropyProblem& problem = call.problem;
    const int64_t ignored = problem.ignore_index;
    int64_t target = ignored;
    if (row.exists()) target = load_target_ordered(problem, row.index());
    const auto logits = row.load_visible(problem.logits, row.width(), -INFINITY);
    // Before the row's first barrier, behind which the gradient may overwrite it.
    float target_logit = 0;
    if (target != ignored && is_class(problem, target)) {
      target_logit = to_float(problem.logits.template row<T>(row.index())[target]);
    }
    float factor = 1;
    if constexpr (kGradient) factor = gradient_factor(problem, counts, num_counts);

    auto shares = row.shares(LogitSums());
    // Rows in registers are looked through for their largest first, which takes little.
    constexpr bool kMaxFirst = Row::kSlots > 0 && !kSoftcap;
    if constexpr (kMaxFirst) {
      const auto maxima = row.largest(logits);
#pragma unroll
      for (int i = 0; i < Row::kVirtual; ++i) shares.of[i].softmax.max = maxima.of[i] * kLog2E;
    }
    row.each_of(logits, [&](const auto& place, const auto& x) {
      OnlineSoftmax& softmax = shares.at(place).softmax;
      const auto z = capped<kSoftcap>(problem, x, place);
      if constexpr (!kMaxFirst) softmax.raise_max(largest(z) * kLog2E);
      const float shift = softmax.shift();
      softmax.sum +=
          total(map([&](float x) { return detail::exp2_of(fmaf(x, kLog2E, -shift)); }, z));
    });
    if (problem.label_smoothing != 0) {
      row.each([&](const auto& place) {
        const auto z = capped<kSoftcap>(problem, logits.at(place), place);
#pragma unroll
        for (int k = 0; k < Row::kSize; ++k) shares.at(place).total += place.holds(k) ? z[k] : 0;
      });
    }
    const LogitSums sums =
        row.reduce_shares(shares, LogitSums(), [](const LogitSums& a, const LogitSums& b) {
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

// counts: what count_targets() counted.
struct LaunchForward {
  template <typename T>
  static void run(const CrossEntropy& call, const int* counts, cudaStream_t stream) {
    const CrossEntropyProblem& problem = call.problem;
    const int parts = num_parts(problem.num_rows);
    RowGrid grid{problem.num_rows, problem.num_classes, call.grad_logits};
    const bool aligned =
        rows_are_aligned<T>(problem.logits) && rows_are_aligned<T>(call.grad_logits);
    if (call.grad_logits.data != nullptr) {
      if (problem.softcap != 0) {
        launch_rows(Forward<T, true, true>{call, counts, parts}, grid, aligned, stream);
      } else {
        launch_rows(Forward<T, true, false>{call, counts, parts}, grid, aligned, stream);
      }
      return;
    }
    grid.anchor = {const_cast<void*>(problem.logits.data), problem.logits.stride};
    if (problem.softcap != 0) {
      launch_rows(Forward<T, false, true>{call, counts, parts}, grid, aligned, stream);
    } else {
      launch_rows(Forward<T, false, false>{call, counts, parts}, grid, aligned, stream);
    }
  }
};

}  // namespace cross_entropy
}  // namespace cudaops_kernels
