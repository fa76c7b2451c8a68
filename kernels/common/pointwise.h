// SPDX-License-Identifier: Apache-2.0
// Ops in which each element of a result depends on the same element of the inputs, and perhaps on
// one number of its column (a bias). An op is a formula for one element, on the CPU and on devices:
//
//   struct Swiglu {
//     static constexpr int kNumInputs = 2, kNumOutputs = 1;
//     static constexpr bool kReadsColumn = false;
//     CUDAOPS_HOST_DEVICE void operator()(const float* x, float column, float* y) const {
//       y[0] = Silu::value(x[0]) * x[1];
//     }
//   };
//   launch_pointwise(Swiglu{}, call, dtype, stream);          // pointwise.cuh
//   run_pointwise_on_cpu(Swiglu{}, call, dtype, parallel_for);  // cpu_pointwise.h
//
// Outputs may be inputs, row by row; there must be no other overlap.
#pragma once

#include <cstdint>

#include "dtype.h"
#include "rows.h"

namespace cudaops_kernels {

template <int kNumInputs, int kNumOutputs>
struct PointwiseCall {
  int64_t num_rows;
  int64_t width;
  ConstRows inputs[kNumInputs];
  Rows outputs[kNumOutputs];
  const void* columns = nullptr;  // `width` elements; null: zeros
  DType columns_dtype = DType::kFloat32;
};

template <typename Formula>
using PointwiseCallOf = PointwiseCall<Formula::kNumInputs, Formula::kNumOutputs>;

// Rows that follow each other without gaps are one long row, unless columns matter.
template <int kNumInputs, int kNumOutputs>
PointwiseCall<kNumInputs, kNumOutputs> with_fewest_rows(
    PointwiseCall<kNumInputs, kNumOutputs> call) {
  if (call.columns != nullptr) return call;
  for (const ConstRows& rows : call.inputs) {
    if (rows.stride != call.width) return call;
  }
  for (const Rows& rows : call.outputs) {
    if (rows.stride != call.width) return call;
  }
  call.width *= call.num_rows;
  call.num_rows = 1;
  return call;
}

}  // namespace cudaops_kernels
