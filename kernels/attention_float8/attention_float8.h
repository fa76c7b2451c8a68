// SPDX-License-Identifier: Apache-2.0
// Attention of float8 (e4m3fn) queries, keys and values, forward only: what attention.h computes of
//
//   q * q_descale,  k * k_descale,  v * v_descale
//
// with a factor for each sequence and key head; a query head has that of the key head it reads.
// q_descale * k_descale is to be above 0, which is not checked: a softmax's largest score is looked
// for before it.
//
// Shapes   attention.h's; a factor for each [batch, kv_heads], with any strides, or none (1).
// Types    q, k, v: float8 e4m3fn, of one byte; output and bias as attention.h has them for `dtype`
//          float32, float16 or bfloat16; factors, lse, sinks, slopes: float32. No dropout.
// Strides  attention.h's.
// Results  the same bits from run to run.
//
// By which arithmetic
//
//   sm_90a   (H100, H200) on the tensor cores' float8 products, where attention_float8_sm90.h says
//            so. Weights, relative to a row's largest one, are rounded to e4m3fn with 2^8 for the
//            largest: three bits behind the leading one down to 2^-14, nothing below 2^-18.
//   others   on the GPU by attention.h's kernels for `dtype`, with q, k and v converted to it
//            before: float16 and bfloat16 hold every float8 number; times a factor that is no power
//            of two it is rounded once. On the CPU in float32.
#pragma once

#include <cstdint>

#include "../attention/attention.h"
#include "../common/parallel_for.h"

namespace cudaops_kernels {

struct AttentionFloat8 {
  Attention attention;  // q, k and v point to bytes; `dtype`: that of output and bias
  AttentionDescale q_descale, k_descale, v_descale;
};

// Device pointers. Enqueues on `stream` (a cudaStream_t) of the current device and returns.
// `workspace`: attention_float8_workspace_bytes() of device memory, aligned to 256, free again when
// the launch's work is done. Throw std::runtime_error when a launch fails.
int64_t attention_float8_workspace_bytes(const AttentionFloat8& call);
void launch_attention_float8(const AttentionFloat8& call, void* workspace, void* stream);

// Host pointers. Returns when the results are written. Doesn't throw, but for std::bad_alloc.
void attention_float8_cpu(const AttentionFloat8& call, ParallelFor parallel_for = serial_for);

}  // namespace cudaops_kernels
