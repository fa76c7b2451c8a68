// SPDX-License-Identifier: Apache-2.0
// bias_gelu for one element, on the CPU and on devices.
#pragma once

#include "../common/pointwise.h"
#include "bias_gelu.h"

namespace cudaops_kernels {

template <typename Gelu>
struct BiasGeluFormula {
  static constexpr int kNumInputs = 1, kNumOutputs = 1;
  static constexpr bool kReadsColumn = true;
  CUDAOPS_HOST_DEVICE void operator()(const float* x, float bias, float* y) const {
    y[0] = Gelu::value(x[0] + bias);
  }
};

template <typename Gelu>
struct BiasGeluBackwardFormula {
  static constexpr int kNumInputs = 2, kNumOutputs = 1;
  static constexpr bool kReadsColumn = true;
  CUDAOPS_HOST_DEVICE void operator()(const float* x, float bias, float* y) const {
    y[0] = x[0] * Gelu::both(x[1] + bias).slope;
  }
};

inline PointwiseCall<1, 1> pointwise_of(const BiasGelu& call) {
  return {call.num_rows, call.width, {call.input}, {call.output}, call.bias, call.bias_dtype};
}

inline PointwiseCall<2, 1> pointwise_of(const BiasGeluBackward& call) {
  return {call.num_rows,     call.width, {call.grad_output, call.input},
          {call.grad_input}, call.bias,  call.bias_dtype};
}

}  // namespace cudaops_kernels
