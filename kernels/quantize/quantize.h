// SPDX-License-Identifier: Apache-2.0
// quantize: numbers as int8 or float8 (e4m3fn) with a scale a block. The formulas, and what becomes
// of NaN, infinity and zeros: quantized.h. block = 1 × 128 (groups of a row), 1 × width (a row: a
// token), 128 × 128 (DeepSeek-V3 technical report, 2024), num_rows × width (a tensor), or any
// other.
//
// Shapes   num_matrices matrices of num_rows rows of `width` elements, all may be 0; a scale, and
//          with a zero point one of these too, for each block of a matrix.
// Types    input float32, float16, bfloat16; output int8 or float8; scales float32; zero points
//          int32. Arithmetic is in float32.
// Strides  those of input's rows are free, also 0; those of scales too. Elements are counted for
//          random numbers as if input were contiguous.
// Aliasing none.
// Results  the same bits from run to run, on the CPU and on devices.
#pragma once

#include "../common/parallel_for.h"
#include "../common/quantized.h"

namespace cudaops_kernels {

struct Quantize {
  BlockGrid grid;
  DType dtype;
  QuantizedType type;
  ConstRows input;
  Rows output;
  float* scale;          // written, unless has_scale: then read, and positive and finite
  int32_t* zero_point;   // null: symmetric; of int8 only, and not with has_scale
  BlockStrides strides;  // of scale and zero_point
  ScaleRule rule;        // not with has_scale
  bool has_scale;
  bool is_random;  // rounds to the upper or lower neighbour, by 16 bits of Philox of seed and
                   // element
  uint64_t seed;
};

// Device pointers, aligned to their element size; fastest where rows start at multiples of 16
// bytes. What lies between the rows of input may be read. Enqueues on `stream` (a cudaStream_t) of
// the current device and returns. Throws std::runtime_error when a launch fails.
//
// One pass over input for rows, 1 × n with n a power of two from 16 to 128 and n × 128 with n up to
// 128; else, and with a zero point, two. At random one for 1 × n alone, and for rows from 65
// numbers to 256 of 16 bits or 128 of 32, where output has no gaps and starts at a multiple of 8
// bytes.
void launch_quantize(const Quantize& call, void* stream);

// Host pointers. Returns when the results are written. Doesn't throw.
void quantize_cpu(const Quantize& call, ParallelFor parallel_for = serial_for);

}  // namespace cudaops_kernels
