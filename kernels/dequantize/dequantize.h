// SPDX-License-Identifier: Apache-2.0
// dequantize: what quantize made, as numbers again: (input - zero_point) * scale of its block, in
// float32, rounded to the output's type. Blocks and scales: quantize.h.
//
// Shapes   num_matrices matrices of num_rows rows of `width` elements, all may be 0; a scale, and
//          perhaps a zero point (of int8), for each block of a matrix.
// Types    input int8 or float8; output float32, float16, bfloat16; scales float32; zero points
//          int32, less than 2^24 either way.
// Strides  those of input's rows are free, also 0; those of scales too.
// Aliasing none.
// Results  the same bits from run to run, on the CPU and on devices.
#pragma once

#include "../common/parallel_for.h"
#include "../common/quantized.h"

namespace cudaops_kernels {

struct Dequantize {
  BlockGrid grid;
  DType dtype;
  QuantizedType type;
  ConstRows input;
  Rows output;
  const float* scale;
  const int32_t* zero_point;  // null: zeros
  BlockStrides strides;       // of scale and zero_point
};

// Device pointers, aligned to their element size; fastest where rows start at multiples of 16
// bytes. Enqueues on `stream` (a cudaStream_t) of the current device and returns. Throws
// std::runtime_error when a launch fails.
void launch_dequantize(const Dequantize& call, void* stream);

// Host pointers. Returns when the results are written. Doesn't throw.
void dequantize_cpu(const Dequantize& call, ParallelFor parallel_for = serial_for);

}  // namespace cudaops_kernels
