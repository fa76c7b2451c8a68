// SPDX-License-Identifier: Apache-2.0
// rms_norm_quantize: what rms_norm makes, perhaps of input + residual, as int8 or float8 with a
// scale a row or for each group of a row: rms_norm.h's output, rounded to the element type, through
// quantize.h, symmetric, rounded to nearest. The same bits as those two give, but where rows of up
// to 256 elements, or their bytes, start anywhere: these are added up in another order.
//
// Shapes, types, strides: those two headers'.
// Aliasing residual_out may be residual; no other overlap.
// Results  the same bits from run to run.
#pragma once

#include "../common/quantized.h"
#include "../rms_norm/rms_norm.h"

namespace cudaops_kernels {

struct RmsNormQuantize {
  RmsNorm norm;    // without output and rstd: null
  BlockGrid grid;  // of norm's rows, block_rows 1
  QuantizedType type;
  Rows output;
  float* scale;          // written, with rule.given too
  BlockStrides strides;  // of scale
  ScaleRule rule;
};

// Device pointers, aligned to their element size; fastest where rows start at multiples of 16
// bytes. Enqueues on `stream` (a cudaStream_t) of the current device and returns. Throws
// std::runtime_error when a launch fails.
//
// One pass for a scale a row, and for groups of a power of two from 16 to 128 elements: of which a
// row has a whole number, where rows start at multiples of 16 bytes, or any in rows of just below
// 64 KiB, 40 KiB for groups of 16 elements of 16 bits.
// Else the norm is written to `workspace`: rms_norm_quantize_workspace_bytes() of device memory,
// aligned to 16, free again when the stream has come past the call.
int64_t rms_norm_quantize_workspace_bytes(const RmsNormQuantize& call);
void launch_rms_norm_quantize(const RmsNormQuantize& call, void* workspace, void* stream);

// Host pointers. `workspace`: as many elements as norm.input has. Returns when the results are
// written. Doesn't throw.
void rms_norm_quantize_cpu(const RmsNormQuantize& call, void* workspace,
                           ParallelFor parallel_for = serial_for);

}  // namespace cudaops_kernels
