// SPDX-License-Identifier: Apache-2.0
// softmax on the CPU.
#include <cmath>
#include <vector>

#include "../common/cpu_rows.h"
#include "softmax.h"

namespace cudaops_kernels {
namespace {

// scores[i] += the mask of row `index`.
template <typename T>
void add_mask(const SoftmaxMask& mask, int64_t index, int64_t visible, float* scores) {
  if (mask.kind == SoftmaxMask::Kind::kNone) return;
  const int64_t offset = mask.row_offset(index);
  if (mask.kind == SoftmaxMask::Kind::kSeen) {
    const uint8_t* seen = static_cast<const uint8_t*>(mask.data) + offset;
    for (int64_t i = 0; i < visible; ++i) scores[i] = seen[i] == 0 ? -INFINITY : scores[i];
    return;
  }
  with_columns<T>(mask.data, mask.dtype, [&](auto added) {
    for (int64_t i = 0; i < visible; ++i) scores[i] += added(offset + i);
  });
}

struct Forward {
  template <typename T>
  static void run(const Softmax& call, ParallelFor parallel_for) {
    const int64_t width = call.width;
    run_parallel(parallel_for, 0, call.num_rows, row_grain(width), [&](int64_t begin, int64_t end) {
      std::vector<float> scores(static_cast<size_t>(width));
      float* const score = scores.data();
      for (int64_t index = begin; index < end; ++index) {
        const int64_t visible = visible_columns(index, call.num_queries, width);
        const T* input = call.input.row<T>(index);
        for (int64_t i = 0; i < visible; ++i) score[i] = call.scale * to_float(input[i]);
        add_mask<T>(call.mask, index, visible, score);
        float largest = -INFINITY;
        for (int64_t i = 0; i < visible; ++i) largest = score[i] > largest ? score[i] : largest;
        const float shift = largest == -INFINITY ? 0 : largest;
        for (int64_t i = 0; i < visible; ++i) score[i] = std::exp(score[i] - shift);
        const double sum = sum_over(visible, [&](int64_t i) { return double{score[i]}; });
        const float inverse = sum == 0 ? 0 : static_cast<float>(1 / sum);
        T* output = call.output.row<T>(index);
        for (int64_t i = 0; i < visible; ++i) output[i] = from_float<T>(score[i] * inverse);
        for (int64_t i = visible; i < width; ++i) output[i] = from_float<T>(0);
      }
    });
  }
};

struct Backward {
  template <typename T>
  static void run(const SoftmaxBackward& call, ParallelFor parallel_for) {
    const int64_t width = call.width;
    run_parallel(parallel_for, 0, call.num_rows, row_grain(width), [&](int64_t begin, int64_t end) {
      for (int64_t index = begin; index < end; ++index) {
        const int64_t visible = visible_columns(index, call.num_queries, width);
        const T* grad_output = call.grad_output.row<T>(index);
        const T* output = call.output.row<T>(index);
        T* grad_input = call.grad_input.row<T>(index);
        const float sum = static_cast<float>(sum_over(visible, [&](int64_t i) {
          return static_cast<double>(to_float(grad_output[i])) * to_float(output[i]);
        }));
        for (int64_t i = 0; i < visible; ++i) {
          grad_input[i] =
              from_float<T>((to_float(grad_output[i]) - sum) * to_float(output[i]) * call.scale);
        }
        for (int64_t i = visible; i < width; ++i) grad_input[i] = from_float<T>(0);
      }
    });
  }
};

}  // namespace

void softmax_cpu(const Softmax& call, ParallelFor parallel_for) {
  for_host_type<Forward>(call.dtype, call, parallel_for);
}

void softmax_backward_cpu(const SoftmaxBackward& call, ParallelFor parallel_for) {
  for_host_type<Backward>(call.dtype, call, parallel_for);
}

}  // namespace cudaops_kernels
