// SPDX-License-Identifier: Apache-2.0
// transpose: output[batch, column, row] = input[batch, row, column]
//
// Shapes   input: num_batches matrices of num_rows × num_columns, output: as many of num_columns ×
//          num_rows. All counts may be 0; elements may be more than 2^31.
// Types    float32, float16, bfloat16. Bits are moved as they are.
// Strides  those of batches and rows of the input are free, also 0; the output is contiguous.
// Aliasing none.
#pragma once

#include <cstdint>

#include "../common/dtype.h"
#include "../common/parallel_for.h"

namespace cudaops_kernels {

struct Transpose {
  int64_t num_batches;
  int64_t num_rows;
  int64_t num_columns;
  DType dtype;
  const void* input;
  int64_t batch_stride;  // in elements
  int64_t row_stride;
  void* output;
};

// Device pointers, aligned to their element size; fastest where the rows of both start at multiples
// of 16 bytes, and from 64 rows and 256 bytes a row on. What lies between the rows of the input may
// be read. Enqueues one kernel on `stream` (a cudaStream_t) of the current device and returns.
// Throws std::runtime_error when the launch fails, and for more than 2^31 - 1 tiles of 64 rows ×
// 256 bytes.
void launch_transpose(const Transpose& call, void* stream);

// Host pointers. Returns when output is written. Doesn't throw.
void transpose_cpu(const Transpose& call, ParallelFor parallel_for = serial_for);

}  // namespace cudaops_kernels
