// SPDX-License-Identifier: Apache-2.0
// rms_norm: rows scaled to a root mean square of one (Zhang, Sennrich: Root Mean Square Layer
// Normalization, 2019), with the addition of a residual that precedes it in a transformer.
//
//   x      = input + residual, rounded to the element type     (without a residual: input)
//   rstd   = 1 / sqrt(mean over the row of x^2 + eps)
//   output = x * rstd * (weight + weight_offset), rounded once
//
// Shapes   num_rows rows of `width` elements, both may be 0; weight has `width` elements.
// Types    float32, float16, bfloat16 for all rows alike; weight has the rows' type or float32.
//          Arithmetic is in float32.
// Strides  those of rows are free, also 0 for what is only read.
// Aliasing output may be input, residual_out may be residual; no other overlap.
// Results  the same bits from run to run.
#pragma once

#include <cstdint>

#include "../common/dtype.h"
#include "../common/parallel_for.h"
#include "../common/rows.h"

namespace cudaops_kernels {

struct RmsNorm {
  int64_t num_rows;
  int64_t width;
  DType dtype;
  DType weight_dtype;
  ConstRows input;
  ConstRows residual;  // data may be null: no residual
  const void* weight;  // may be null: ones
  Rows output;
  Rows residual_out;  // x; where there is a residual
  float* rstd;        // a number a row; may be null
  float eps;
  float weight_offset;
};

// The derivatives by x and weight, given those by output and, where x itself was an output, by x.
//
//   grad_x      = rstd * (h - x * rstd^2 * mean over the row of h * x) + grad_residual_out
//                 where h = grad_output * (weight + weight_offset)
//   grad_weight = sum over the rows of grad_output * x * rstd
struct RmsNormBackward {
  int64_t num_rows;
  int64_t width;
  DType dtype;
  DType weight_dtype;
  ConstRows grad_output;
  ConstRows grad_residual_out;  // data may be null: zeros
  ConstRows x;                  // input, or residual_out
  const void* weight;           // may be null: ones
  const float* rstd;
  Rows grad_x;
  void* grad_weight;  // of weight_dtype; may be null: not wanted
  float weight_offset;
};

// Device pointers, aligned to their element size; fastest where rows start at multiples of 16
// bytes. Enqueues on `stream` (a cudaStream_t) of the current device and returns. Throws
// std::runtime_error when a launch fails.
void launch_rms_norm(const RmsNorm& call, void* stream);

// `workspace`: rms_norm_backward_workspace_bytes() of device memory, aligned to 16, free again when
// the stream has come past the call; null where that is 0.
int64_t rms_norm_backward_workspace_bytes(const RmsNormBackward& call);
void launch_rms_norm_backward(const RmsNormBackward& call, void* workspace, void* stream);

// Host pointers. Return when the results are written. Don't throw.
void rms_norm_cpu(const RmsNorm& call, ParallelFor parallel_for = serial_for);
void rms_norm_backward_cpu(const RmsNormBackward& call, ParallelFor parallel_for = serial_for);

}  // namespace cudaops_kernels
