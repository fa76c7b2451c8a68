// SPDX-License-Identifier: Apache-2.0
// cross_entropy on the CPU.
#include <cmath>
#include <limits>
#include <vector>

#include "../common/cpu_rows.h"
#include "cross_entropy.h"

namespace cudaops_kernels {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

int64_t num_counted(const CrossEntropyProblem& problem) {
  int64_t count = 0;
  for (int64_t index = 0; index < problem.num_rows; ++index) {
    count += target_of(problem, index) != problem.ignore_index ? 1 : 0;
  }
  return count;
}

// z[i], in float: what logits become before anything else.
template <typename T>
void cap_logits(const CrossEntropyProblem& problem, const T* logits, float* z) {
  const float cap = problem.softcap;
  for (int64_t i = 0; i < problem.num_classes; ++i) z[i] = to_float(logits[i]);
  if (cap == 0) return;
  for (int64_t i = 0; i < problem.num_classes; ++i) z[i] = cap * std::tanh(z[i] / cap);
}

// The gradient of a row_loss, times `factor`, by the row's capped logits and their lse.
template <typename T>
void write_gradient(const CrossEntropyProblem& problem, const float* z, int64_t target, double lse,
                    float factor, T* out) {
  const float shift = static_cast<float>(lse);
  const float scale = factor * (1 + 2 * problem.lse_square_scale * shift);
  const float smoothing =
      factor * problem.label_smoothing / static_cast<float>(problem.num_classes);
  const float cap = problem.softcap;
  const auto gradient = [&](int64_t i) {
    float grad = std::exp(z[i] - shift) * scale - smoothing;
    if (i == target) grad -= factor * (1 - problem.label_smoothing);
    if (cap != 0) grad *= 1 - z[i] / cap * (z[i] / cap);
    return grad;
  };
  for (int64_t i = 0; i < problem.num_classes; ++i) out[i] = from_float<T>(gradient(i));
}

template <typename T>
void write_zeros(int64_t count, T* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = from_float<T>(0);
}

struct Forward {
  template <typename T>
  static void run(const CrossEntropy& call, float factor, ParallelFor parallel_for) {
    const CrossEntropyProblem& problem = call.problem;
    const int64_t num_classes = problem.num_classes;
    const bool wants_gradient = call.grad_logits.data != nullptr;
    const auto run_rows = [&](int64_t begin, int64_t end) {
      std::vector<float> row(static_cast<size_t>(num_classes));
      float* const z = row.data();
      for (int64_t index = begin; index < end; ++index) {
        const int64_t target = target_of(problem, index);
        if (target == problem.ignore_index) {
          call.row_loss[index] = call.lse[index] = 0;
          if (wants_gradient) write_zeros(num_classes, call.grad_logits.row<T>(index));
          continue;
        }
        cap_logits(problem, problem.logits.row<T>(index), z);
        float largest = -INFINITY;
        for (int64_t i = 0; i < num_classes; ++i) largest = z[i] > largest ? z[i] : largest;
        const float shift = largest == -INFINITY ? 0 : largest;
        const double exponentials =
            sum_over(num_classes, [&](int64_t i) { return double{std::exp(z[i] - shift)}; });
        const double lse = shift + std::log(exponentials);
        const double smoothing = problem.label_smoothing;
        double loss = kNaN;
        if (is_class(problem, target)) {
          loss = lse - (1 - smoothing) * z[target] + problem.lse_square_scale * lse * lse;
          if (smoothing != 0) {
            const double total = sum_over(num_classes, [&](int64_t i) { return double{z[i]}; });
            loss -= smoothing * (total / static_cast<double>(num_classes));
          }
        }
        call.row_loss[index] = static_cast<float>(loss);
        call.lse[index] = static_cast<float>(lse);
        if (wants_gradient) {
          write_gradient(problem, z, target, lse, is_class(problem, target) ? factor : kNaN,
                         call.grad_logits.row<T>(index));
        }
      }
    };
    run_parallel(parallel_for, 0, problem.num_rows, row_grain(num_classes), run_rows);
  }
};

struct Backward {
  template <typename T>
  static void run(const CrossEntropyBackward& call, float factor, ParallelFor parallel_for) {
    const CrossEntropyProblem& problem = call.problem;
    const auto run_rows = [&](int64_t begin, int64_t end) {
      std::vector<float> z(static_cast<size_t>(problem.num_classes));
      for (int64_t index = begin; index < end; ++index) {
        const int64_t target = target_of(problem, index);
        T* const grad_logits = call.grad_logits.row<T>(index);
        if (target == problem.ignore_index) {
          write_zeros(problem.num_classes, grad_logits);
          continue;
        }
        const float grad_loss =
            call.grad_loss[problem.reduction == Reduction::kNone ? index : 0] * factor;
        cap_logits(problem, problem.logits.row<T>(index), z.data());
        write_gradient(problem, z.data(), target, call.lse[index],
                       is_class(problem, target) ? grad_loss : kNaN, grad_logits);
      }
    };
    run_parallel(parallel_for, 0, problem.num_rows, row_grain(problem.num_classes), run_rows);
  }
};

struct Scale {
  template <typename T>
  static void run(const CrossEntropyScale& call, ParallelFor parallel_for) {
    const auto run_rows = [&](int64_t begin, int64_t end) {
      for (int64_t index = begin; index < end; ++index) {
        const float factor = call.grad_loss[call.one_a_row ? index : 0];
        T* const row = call.grad_logits.row<T>(index);
        if (factor == 1) continue;
        const bool keeps_zeros = !std::isnan(factor);
        for (int64_t i = 0; i < call.num_classes; ++i) {
          const float x = to_float(row[i]);
          row[i] = from_float<T>(keeps_zeros && x == 0 ? x : x * factor);
        }
      }
    };
    run_parallel(parallel_for, 0, call.num_rows, row_grain(call.num_classes), run_rows);
  }
};

float gradient_factor(const CrossEntropyProblem& problem) {
  if (problem.reduction != Reduction::kMean) return 1;
  return 1 / static_cast<float>(num_counted(problem));
}

}  // namespace

void cross_entropy_cpu(const CrossEntropy& call, ParallelFor parallel_for) {
  const CrossEntropyProblem& problem = call.problem;
  for_host_type<Forward>(problem.dtype, call, gradient_factor(problem), parallel_for);
  if (problem.reduction == Reduction::kNone) return;
  const double sum =
      sum_over(problem.num_rows, [&](int64_t i) { return double{call.row_loss[i]}; });
  const bool is_mean = problem.reduction == Reduction::kMean;
  *call.loss = static_cast<float>(is_mean ? sum / static_cast<double>(num_counted(problem)) : sum);
}

void cross_entropy_backward_cpu(const CrossEntropyBackward& call, ParallelFor parallel_for) {
  for_host_type<Backward>(call.problem.dtype, call, gradient_factor(call.problem), parallel_for);
}

void cross_entropy_scale_cpu(const CrossEntropyScale& call, ParallelFor parallel_for) {
  for_host_type<Scale>(call.dtype, call, parallel_for);
}

int64_t cross_entropy_find_wrong_target(const CrossEntropyProblem& problem) {
  for (int64_t index = 0; index < problem.num_rows; ++index) {
    const int64_t target = target_of(problem, index);
    if (target != problem.ignore_index && !is_class(problem, target)) return index;
  }
  return -1;
}

}  // namespace cudaops_kernels
