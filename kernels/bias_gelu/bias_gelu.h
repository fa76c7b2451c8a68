// SPDX-License-Identifier: Apache-2.0
// bias_gelu: gelu(input + bias), exact or approximated by tanh.
//
//   output     = gelu(input + bias); the sum is not rounded in between
//   grad_input = grad_output * gelu'(input + bias)
//   grad_bias  = sum over the rows of the same, before it is rounded
//
// Shapes   num_rows rows of `width` elements, both may be 0; bias has `width` elements.
// Types    float32, float16, bfloat16 for all rows alike; bias has the rows' type or float32.
//          Arithmetic is in float32.
// Strides  those of rows are free, also 0 for what is only read.
// Aliasing output may be input; no other overlap.
// Results  the same bits from run to run.
#pragma once

#include <cstdint>

#include "../common/activations.h"
#include "../common/dtype.h"
#include "../common/parallel_for.h"
#include "../common/rows.h"

namespace cudaops_kernels {

struct BiasGelu {
  int64_t num_rows;
  int64_t width;
  DType dtype;
  DType bias_dtype;
  GeluKind kind;
  ConstRows input;
  const void* bias;  // may be null: zeros
  Rows output;
};

struct BiasGeluBackward {
  int64_t num_rows;
  int64_t width;
  DType dtype;
  DType bias_dtype;
  GeluKind kind;
  ConstRows grad_output;
  ConstRows input;
  const void* bias;  // may be null: zeros
  Rows grad_input;
  void* grad_bias;  // of bias_dtype; may be null: not wanted
};

// Device pointers, aligned to their element size; fastest where rows start at multiples of 16
// bytes. What lies between the rows of an array may be read. Enqueues on `stream` (a cudaStream_t)
// of the current device and returns. Throws std::runtime_error when a launch fails.
void launch_bias_gelu(const BiasGelu& call, void* stream);

// `workspace`: bias_gelu_backward_workspace_bytes() of device memory, aligned to 16, free again
// when the stream has come past the call; null where that is 0.
int64_t bias_gelu_backward_workspace_bytes(const BiasGeluBackward& call);
void launch_bias_gelu_backward(const BiasGeluBackward& call, void* workspace, void* stream);

// Host pointers. Return when the results are written. Don't throw.
void bias_gelu_cpu(const BiasGelu& call, ParallelFor parallel_for = serial_for);
void bias_gelu_backward_cpu(const BiasGeluBackward& call, ParallelFor parallel_for = serial_for);

}  // namespace cudaops_kernels
