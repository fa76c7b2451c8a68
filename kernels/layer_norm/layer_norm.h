// SPDX-License-Identifier: Apache-2.0
// layer_norm: rows shifted to mean zero and scaled to variance one (Ba, Kiros, Hinton: Layer
// Normalization, 2016).
//
//   mean   = mean over the row of input
//   rstd   = 1 / sqrt(mean over the row of (input - mean)^2 + eps)
//   output = (input - mean) * rstd * weight + bias, rounded once
//
// Shapes   num_rows rows of `width` elements, both may be 0; weight and bias have `width` elements.
// Types    float32, float16, bfloat16 for all rows alike; weight and bias have the rows' type or
//          float32. Arithmetic is in float32, the variance is summed after the mean is known.
// Strides  those of rows are free, also 0 for what is only read.
// Aliasing output may be input; no other overlap.
// Results  the same bits from run to run.
#pragma once

#include <cstdint>

#include "../common/dtype.h"
#include "../common/parallel_for.h"
#include "../common/rows.h"

namespace cudaops_kernels {

struct LayerNorm {
  int64_t num_rows;
  int64_t width;
  DType dtype;
  DType weight_dtype;  // of weight and bias
  ConstRows input;
  const void* weight;  // may be null: ones
  const void* bias;    // may be null: zeros
  Rows output;
  float* mean;  // a number a row; may be null
  float* rstd;
  float eps;
};

// The derivatives by input, weight and bias, given those by output.
//
//   x           = (input - mean) * rstd
//   h           = grad_output * weight
//   grad_input  = rstd * (h - mean over the row of h - x * mean over the row of h * x)
//   grad_weight = sum over the rows of grad_output * x
//   grad_bias   = sum over the rows of grad_output
struct LayerNormBackward {
  int64_t num_rows;
  int64_t width;
  DType dtype;
  DType weight_dtype;
  ConstRows grad_output;
  ConstRows input;
  const void* weight;  // may be null: ones
  const float* mean;
  const float* rstd;
  Rows grad_input;
  void* grad_weight;  // of weight_dtype; may be null: not wanted
  void* grad_bias;
};

// Device pointers, aligned to their element size; fastest where rows start at multiples of 16
// bytes. Enqueues on `stream` (a cudaStream_t) of the current device and returns. Throws
// std::runtime_error when a launch fails.
void launch_layer_norm(const LayerNorm& call, void* stream);

// `workspace`: layer_norm_backward_workspace_bytes() of device memory, aligned to 16, free again
// when the stream has come past the call; null where that is 0.
int64_t layer_norm_backward_workspace_bytes(const LayerNormBackward& call);
void launch_layer_norm_backward(const LayerNormBackward& call, void* workspace, void* stream);

// Host pointers. Return when the results are written. Don't throw.
void layer_norm_cpu(const LayerNorm& call, ParallelFor parallel_for = serial_for);
void layer_norm_backward_cpu(const LayerNormBackward& call, ParallelFor parallel_for = serial_for);

}  // namespace cudaops_kernels
