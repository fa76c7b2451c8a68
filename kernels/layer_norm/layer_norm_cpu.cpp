// SPDX-License-Identifier: Apache-2.0
// layer_norm on the CPU.
#include <cmath>

#include "../common/cpu_rows.h"
#include "layer_norm.h"

namespace cudaops_kernels {
namespace {

struct Forward {
  template <typename T>
  static void run(const LayerNorm& call, ParallelFor parallel_for) {
    const int64_t width = call.width;
    run_parallel(parallel_for, 0, call.num_rows, row_grain(width), [&](int64_t begin, int64_t end) {
      for (int64_t index = begin; index < end; ++index) {
        const T* x = call.input.row<T>(index);
        const double count = static_cast<double>(width);
        const double mean = sum_over(width, [&](int64_t i) { return to_float(x[i]); }) / count;
        const double squares = sum_over(width, [&](int64_t i) {
          const double centred = to_float(x[i]) - mean;
          return centred * centred;
        });
        const float rstd = static_cast<float>(1.0 / std::sqrt(squares / count + call.eps));
        if (call.mean != nullptr) call.mean[index] = static_cast<float>(mean);
        if (call.rstd != nullptr) call.rstd[index] = rstd;
        T* output = call.output.row<T>(index);
        with_columns<T>(call.weight, call.weight_dtype, [&](auto weight) {
          with_columns<T>(call.bias, call.weight_dtype, [&](auto bias) {
            for (int64_t i = 0; i < width; ++i) {
              float y = static_cast<float>(to_float(x[i]) - mean) * rstd;
              if (call.weight != nullptr) y *= weight(i);
              if (call.bias != nullptr) y += bias(i);
              output[i] = from_float<T>(y);
            }
          });
        });
      }
    });
  }
};

struct Backward {
  template <typename T>
  static void run(const LayerNormBackward& call, ParallelFor parallel_for) {
    const int64_t width = call.width;
    run_parallel(parallel_for, 0, call.num_rows, row_grain(width), [&](int64_t begin, int64_t end) {
      for (int64_t index = begin; index < end; ++index) {
        const T* grad_output = call.grad_output.row<T>(index);
        const T* input = call.input.row<T>(index);
        T* grad_input = call.grad_input.row<T>(index);
        const double mean = call.mean[index], rstd = call.rstd[index];
        with_columns<T>(call.weight, call.weight_dtype, [&](auto weight) {
          const auto x = [&](int64_t i) { return (to_float(input[i]) - mean) * rstd; };
          const auto h = [&](int64_t i) {
            const double grad = to_float(grad_output[i]);
            return call.weight == nullptr ? grad : grad * weight(i);
          };
          const double count = static_cast<double>(width);
          const double mean_h = sum_over(width, h) / count;
          const double mean_product =
              sum_over(width, [&](int64_t i) { return h(i) * x(i); }) / count;
          for (int64_t i = 0; i < width; ++i) {
            grad_input[i] =
                from_float<T>(static_cast<float>((h(i) - mean_h - x(i) * mean_product) * rstd));
          }
        });
      }
    });
    const auto grad = [&](int64_t index, int64_t column) {
      return static_cast<double>(to_float(call.grad_output.row<T>(index)[column]));
    };
    if (call.grad_weight != nullptr) {
      sum_columns(parallel_for, call.num_rows, width, call.weight_dtype, call.grad_weight,
                  [&](int64_t index, int64_t column) {
                    const float x = to_float(call.input.row<T>(index)[column]);
                    return grad(index, column) * (x - call.mean[index]) * call.rstd[index];
                  });
    }
    if (call.grad_bias != nullptr) {
      sum_columns(parallel_for, call.num_rows, width, call.weight_dtype, call.grad_bias, grad);
    }
  }
};

}  // namespace

void layer_norm_cpu(const LayerNorm& call, ParallelFor parallel_for) {
  for_host_type<Forward>(call.dtype, call, parallel_for);
}

void layer_norm_backward_cpu(const LayerNormBackward& call, ParallelFor parallel_for) {
  for_host_type<Backward>(call.dtype, call, parallel_for);
}

}  // namespace cudaops_kernels
