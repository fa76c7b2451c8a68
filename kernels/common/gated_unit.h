// SPDX-License-Identifier: Apache-2.0
// Gated linear units (Shazeer: GLU variants improve transformer, 2020): one half of a layer's
// activations is passed through a function and scales the other half.
//
//   output    = activation(gate) * up, rounded once
//   grad_gate = grad_output * up * activation'(gate)
//   grad_up   = grad_output * activation(gate)
//
// Shapes   num_rows rows of `width` elements, both may be 0.
// Types    float32, float16, bfloat16 for all rows alike. Arithmetic is in float32.
// Strides  those of rows are free, also 0 for what is only read: gate and up may be the two halves
//          of each row of one array.
// Aliasing output may be gate or up, gradients may be what they are computed from; no other
//          overlap.
// Results  the same bits from run to run.
#pragma once

#include "pointwise.h"

namespace cudaops_kernels {

struct GatedUnit {
  int64_t num_rows;
  int64_t width;
  DType dtype;
  ConstRows gate;
  ConstRows up;
  Rows output;
};

struct GatedUnitBackward {
  int64_t num_rows;
  int64_t width;
  DType dtype;
  ConstRows grad_output;
  ConstRows gate;
  ConstRows up;
  Rows grad_gate;
  Rows grad_up;
};

template <typename Activation>
struct GatedUnitFormula {
  static constexpr int kNumInputs = 2, kNumOutputs = 1;
  static constexpr bool kReadsColumn = false;
  CUDAOPS_HOST_DEVICE void operator()(const float* x, float, float* y) const {
    y[0] = Activation::value(x[0]) * x[1];
  }
};

template <typename Activation>
struct GatedUnitBackwardFormula {
  static constexpr int kNumInputs = 3, kNumOutputs = 2;
  static constexpr bool kReadsColumn = false;
  CUDAOPS_HOST_DEVICE void operator()(const float* x, float, float* y) const {
    const float grad_output = x[0], gate = x[1], up = x[2];
    const auto activation = Activation::both(gate);
    y[0] = grad_output * up * activation.slope;
    y[1] = grad_output * activation.value;
  }
};

inline PointwiseCall<2, 1> pointwise_of(const GatedUnit& call) {
  return {call.num_rows, call.width, {call.gate, call.up}, {call.output}};
}

inline PointwiseCall<3, 2> pointwise_of(const GatedUnitBackward& call) {
  return {call.num_rows,
          call.width,
          {call.grad_output, call.gate, call.up},
          {call.grad_gate, call.grad_up}};
}

}  // namespace cudaops_kernels
