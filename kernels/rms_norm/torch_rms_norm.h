// SPDX-License-Identifier: Apache-2.0
// What bindings of ops with a norm share.
#pragma once

#include <torch/csrc/stable/library.h>

#include "../common/torch_rows.h"
#include "rms_norm.h"

namespace cudaops_kernels {

// The inputs, checked; outputs are the caller's.
inline RmsNorm rms_norm_call(const char* op, const TensorRows& rows, DType dtype,
                             const Columns& weight, double eps, double weight_offset) {
  RmsNorm call{};
  call.num_rows = rows.num_rows;
  call.width = rows.width;
  call.dtype = dtype;
  call.weight_dtype = weight.dtype;
  call.input = rows.read();
  call.weight = weight.data();
  call.eps = checked_from_zero(op, "eps", eps);
  call.weight_offset = checked_finite(op, "weight_offset", weight_offset);
  return call;
}

}  // namespace cudaops_kernels
