// SPDX-License-Identifier: Apache-2.0
// rms_norm on the CPU.
#include <cmath>

#include "../common/cpu_rows.h"
#include "rms_norm.h"

namespace cudaops_kernels {
namespace {

struct Forward {
  template <typename T>
  static void run(const RmsNorm& call, ParallelFor parallel_for) {
    const int64_t width = call.width;
    run_parallel(parallel_for, 0, call.num_rows, row_grain(width), [&](int64_t begin, int64_t end) {
      for (int64_t index = begin; index < end; ++index) {
        const T* x = call.input.row<T>(index);
        if (call.residual.data != nullptr) {
          const T* residual = call.residual.row<T>(index);
          T* sum = call.residual_out.row<T>(index);
          for (int64_t i = 0; i < width; ++i) {
            sum[i] = from_float<T>(to_float(x[i]) + to_float(residual[i]));
          }
          x = sum;
        }
        const double squares = sum_over(
            width, [&](int64_t i) { return static_cast<double>(to_float(x[i])) * to_float(x[i]); });
        const float rstd =
            static_cast<float>(1.0 / std::sqrt(squares / static_cast<double>(width) + call.eps));
        if (call.rstd != nullptr) call.rstd[index] = rstd;
        T* output = call.output.row<T>(index);
        with_columns<T>(call.weight, call.weight_dtype, [&](auto weight) {
          for (int64_t i = 0; i < width; ++i) {
            const float scale = call.weight == nullptr ? 1.0f : weight(i) + call.weight_offset;
            output[i] = from_float<T>(to_float(x[i]) * rstd * scale);
          }
        });
      }
    });
  }
};

struct Backward {
  template <typename T>
  static void run(const RmsNormBackward& call, ParallelFor parallel_for) {
    const int64_t width = call.width;
    const bool has_residual = call.grad_residual_out.data != nullptr;
    run_parallel(parallel_for, 0, call.num_rows, row_grain(width), [&](int64_t begin, int64_t end) {
      for (int64_t index = begin; index < end; ++index) {
        const T* grad_output = call.grad_output.row<T>(index);
        const T* x = call.x.row<T>(index);
        const T* grad_residual = has_residual ? call.grad_residual_out.row<T>(index) : grad_output;
        T* grad_x = call.grad_x.row<T>(index);
        const double rstd = call.rstd[index];
        with_columns<T>(call.weight, call.weight_dtype, [&](auto weight) {
          const auto scaled = [&](int64_t i) {
            const float scale = call.weight == nullptr ? 1.0f : weight(i) + call.weight_offset;
            return to_float(grad_output[i]) * scale;
          };
          const double products = sum_over(
              width, [&](int64_t i) { return static_cast<double>(scaled(i)) * to_float(x[i]); });
          const float shift =
              static_cast<float>(-products * rstd * rstd * rstd / static_cast<double>(width));
          for (int64_t i = 0; i < width; ++i) {
            float grad = scaled(i) * static_cast<float>(rstd) + to_float(x[i]) * shift;
            if (has_residual) grad += to_float(grad_residual[i]);
            grad_x[i] = from_float<T>(grad);
          }
        });
      }
    });
    if (call.grad_weight == nullptr) return;
    sum_columns(parallel_for, call.num_rows, width, call.weight_dtype, call.grad_weight,
                [&](int64_t index, int64_t column) {
                  return to_float(call.grad_output.row<T>(index)[column]) *
                         to_float(call.x.row<T>(index)[column]) * call.rstd[index];
                });
  }
};

}  // namespace

void rms_norm_cpu(const RmsNorm& call, ParallelFor parallel_for) {
  for_host_type<Forward>(call.dtype, call, parallel_for);
}

void rms_norm_backward_cpu(const RmsNormBackward& call, ParallelFor parallel_for) {
  for_host_type<Backward>(call.dtype, call, parallel_for);
}

}  // namespace cudaops_kernels
