// SPDX-License-Identifier: Apache-2.0
// swiglu_quantize: what swiglu makes, as int8 or float8 with a scale a row or for each group of a
// row. The same bits as swiglu.h's output, rounded to the element type, through quantize.h:
// symmetric, rounded to nearest.
//
// Shapes, types, strides: those two headers'.
// Aliasing none.
// Results  the same bits from run to run.
#pragma once

#include "../common/quantized.h"
#include "../swiglu/swiglu.h"

namespace cudaops_kernels {

struct SwigluQuantize {
  GatedUnit unit;  // without output: null
  BlockGrid grid;  // of unit's rows, block_rows 1
  QuantizedType type;
  Rows output;
  float* scale;          // written, with rule.given too
  BlockStrides strides;  // of scale
  ScaleRule rule;
};

// Device pointers, aligned to their element size; fastest where rows start at multiples of 16
// bytes. What lies between the rows of an array may be read. Enqueues on `stream` (a cudaStream_t)
// of the current device and returns. Throws std::runtime_error when a launch fails.
//
// One pass for a scale a row, and for groups of a power of two from 16 to 128 elements. Else
// swiglu's output is written to `workspace`: swiglu_quantize_workspace_bytes() of device memory,
// aligned to 16, free again when the stream has come past the call.
int64_t swiglu_quantize_workspace_bytes(const SwigluQuantize& call);
void launch_swiglu_quantize(const SwigluQuantize& call, void* workspace, void* stream);

// Host pointers. `workspace`: as many elements as unit.gate has. Returns when the results are
// written. Doesn't throw.
void swiglu_quantize_cpu(const SwigluQuantize& call, void* workspace,
                         ParallelFor parallel_for = serial_for);

}  // namespace cudaops_kernels
