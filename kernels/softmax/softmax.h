// SPDX-License-Identifier: Apache-2.0
// softmax over rows: exponentials that sum to one.
//
//   score  = scale * input + mask
//   output = exp(score - max over the row of score) / sum over the row of the same
//
// Shapes   num_rows rows of `width` elements, both may be 0. With num_queries > 0 attention is
//          causal: row i sees the columns up to i % num_queries + width - num_queries.
// Types    float32, float16, bfloat16 for all rows alike; a mask is added (the rows' type or
//          float32) or says what is seen (bool: one byte, 0 or 1). Arithmetic is in float32.
// Strides  those of rows are free, also 0 for what is only read.
// Aliasing output may be input, grad_input one of its inputs; no other overlap.
// Results  the same bits from run to run. What is not seen is 0 and counts for nothing, even NaN; a
//          row in which nothing is seen, or all scores are minus infinity, is zeros.
#pragma once

#include <cstdint>

#include "../common/dtype.h"
#include "../common/parallel_for.h"
#include "../common/rows.h"

namespace cudaops_kernels {

// Rows of a mask for those of the input, which lie in up to kMaxDims dimensions, the innermost
// first; a stride of 0 where the mask has only one.
struct SoftmaxMask {
  static constexpr int kMaxDims = 4;
  enum class Kind { kNone, kAdded, kSeen };

  Kind kind;
  DType dtype;  // of what is added
  const void* data;
  int num_dims;
  int64_t sizes[kMaxDims];
  int64_t strides[kMaxDims];  // in elements

  // Where the mask of row `index` starts, in elements.
  CUDAOPS_HOST_DEVICE int64_t row_offset(int64_t index) const {
    int64_t offset = 0;
    for (int dim = 0; dim < kMaxDims; ++dim) {
      if (dim + 1 >= num_dims) {
        if (dim < num_dims) offset += index * strides[dim];
        break;
      }
      // A division of 64 bits takes four times as long.
      const bool is_short = static_cast<uint64_t>(index) <= UINT32_MAX && sizes[dim] <= UINT32_MAX;
      const int64_t rest = is_short
                               ? static_cast<uint32_t>(index) / static_cast<uint32_t>(sizes[dim])
                               : index / sizes[dim];
      offset += (index - rest * sizes[dim]) * strides[dim];
      index = rest;
    }
    return offset;
  }
};

struct Softmax {
  int64_t num_rows;
  int64_t width;
  DType dtype;
  ConstRows input;
  SoftmaxMask mask;
  Rows output;
  float scale;
  int64_t num_queries;  // 0: not causal
};

// The derivative by input, given that by output.
//
//   grad_input = scale * output * (grad_output - sum over the row of grad_output * output)
//
// With scale 1 it is also the derivative by an added mask, before broadcasting is summed up.
struct SoftmaxBackward {
  int64_t num_rows;
  int64_t width;
  DType dtype;
  ConstRows grad_output;
  ConstRows output;
  Rows grad_input;
  float scale;
  int64_t num_queries;  // 0: not causal
};

// How many columns a row sees.
CUDAOPS_HOST_DEVICE inline int64_t visible_columns(int64_t index, int64_t num_queries,
                                                   int64_t width) {
  if (num_queries == 0) return width;
  const int64_t visible = index % num_queries + 1 + width - num_queries;
  return visible < 0 ? 0 : visible;
}

// Device pointers, aligned to their element size; fastest where rows start at multiples of 16
// bytes. Enqueue on `stream` (a cudaStream_t) of the current device and return. Throw
// std::runtime_error when a launch fails.
void launch_softmax(const Softmax& call, void* stream);
void launch_softmax_backward(const SoftmaxBackward& call, void* stream);

// Host pointers. Return when the results are written. Don't throw.
void softmax_cpu(const Softmax& call, ParallelFor parallel_for = serial_for);
void softmax_backward_cpu(const SoftmaxBackward& call, ParallelFor parallel_for = serial_for);

}  // namespace cudaops_kernels
