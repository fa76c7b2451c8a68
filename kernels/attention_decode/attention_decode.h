// SPDX-License-Identifier: Apache-2.0
// attention_decode: attention of a sequence's last tokens to all of it, whose keys and values lie
// in pages (paged.h). Token i of q_length has the position p = length - q_length + i, length
// that of its sequence, and sees the keys at 0 … p, with a window those from p - window_left on:
//
//   s      = softcap * tanh(scale * (q . k) / softcap), or scale * (q . k) where softcap is 0
//   output = sum of exp(s) * v / (sum of exp(s) + exp(sink))
//   lse    = ln(sum of exp(s) + exp(sink)), without exp(sink) where there are no sinks
//
// A query that sees nothing (a length of 0, or tokens before the first) gets 0, and -infinity as
// lse (sink where there is one).
//
// Shapes   q, output: [num_batches, q_length, num_heads, head_dim]; caches: [num_blocks, page_size,
//          num_kv_heads, head_dim]; head h reads those of num_kv_heads at h / (num_heads /
//          num_kv_heads). block_table: [num_batches, blocks_per_sequence]: the block with the keys
//          page_size * i … of a sequence. lengths: [num_batches], the new tokens counted. lse:
//          [num_batches, num_heads, q_length]. head_dim is at most 256, q_length at most 1024.
// Types    float32, float16, bfloat16 for q, caches and output alike, or caches of float8 e4m3fn,
//          whose numbers are multiplied by k_scale and v_scale. Sums are float32.
// Bounds   lengths count up to blocks_per_sequence * page_size; a block that is not one of
//          num_blocks is not read, its keys are not seen.
// NaN      What no query of a tile of keys sees is not read; a NaN or an infinity in a value that
//          is hidden from one query of a tile, not from another, may reach its output as
//          0 * NaN.
// Strides  those of q's and the caches' first three dimensions are free, head_dim is contiguous;
//          output and lse are contiguous.
// Results  the same bits from run to run on a device; a sequence's result depends on how much work
//          comes with it, as that decides where its keys are divided.
#pragma once

#include <cstdint>

#include "../common/dtype.h"
#include "../common/paged.h"
#include "../common/parallel_for.h"

namespace cudaops_kernels {

struct AttentionDecode {
  int64_t num_batches;
  int64_t q_length;
  int64_t num_heads;
  int64_t num_kv_heads;
  int64_t head_dim;
  int64_t num_blocks;
  int64_t page_size;
  int64_t blocks_per_sequence;
  DType dtype;
  bool has_float8_cache;
  const void* q;
  int64_t q_batch_stride;
  int64_t q_token_stride;
  int64_t q_head_stride;
  PagedCache k;
  PagedCache v;
  const int32_t* block_table;
  int64_t block_table_stride;  // from one sequence's to the next
  const int32_t* lengths;
  const float* sinks;  // one for each of num_heads; may be null
  float scale;
  float softcap;
  int64_t window_left = -1;  // below 0: none
  void* output;
  float* lse;  // may be null
};

constexpr int64_t kMostDecodeHeadDim = 256;
constexpr int64_t kMostDecodeTokens = 1024;

// Device pointers, aligned to their element size; fastest where rows of q and the caches start at
// multiples of 16 bytes and page_size is a multiple of 16. `workspace`: so many bytes of device
// memory, aligned to 16, free again when the stream has come past the call; null where that is 0.
// Enqueues one or two kernels on `stream` (a cudaStream_t) of the current device and returns;
// lengths, tables and caches are read when they run. Throws std::runtime_error when a launch fails.
int64_t attention_decode_workspace_bytes(const AttentionDecode& call);
void launch_attention_decode(const AttentionDecode& call, void* workspace, void* stream);

// The same with host pointers. Returns when the results are written. Doesn't throw, but for
// std::bad_alloc.
void attention_decode_cpu(const AttentionDecode& call, ParallelFor parallel_for = serial_for);

}  // namespace cudaops_kernels
