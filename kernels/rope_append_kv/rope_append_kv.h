// SPDX-License-Identifier: Apache-2.0
// rope_append_kv_: what stands between the projections and attention_decode, at once. q and k get
// their rotary position embedding (rope.h: formula, pairs, tables); k and v go to their places in
// the paged caches (paged.h; attention_decode.h: block table), as float8 where the caches are of
// it:
//
//   q_out                 = rotated q
//   k_cache[block, place] = rotated k, or float8(rotated k * (1 / k_scale))
//   v_cache[block, place] = v, or float8(v * (1 / v_scale))
//
// with block = block_table[sequence, position / page_size] and place = position % page_size. A
// number is rounded once, to nearest.
//
// Shapes   q and q_out: [num_batches, seq_length, num_heads, head_dim], k and v the same with
//          num_kv_heads; positions: [num_batches, seq_length]; cos and sin: [num_positions,
//          rotary_dim / 2]; caches and block_table as attention_decode's.
// Types    float32, float16, bfloat16 for q, k, v and q_out alike, caches of the same or of float8
//          e4m3fn; cos and sin of the same or float32. Arithmetic is in float32.
// Position A negative one is padding's: nothing is appended, and its q comes out as it is. Where
//          there is no row of cos for it, pairs become NaN. Where the table has no block for it, or
//          a block is not one of num_blocks, nothing is appended.
// Strides  those of q, k, v and the caches are free but for the last, which is 1; q_out is
//          contiguous.
// Aliasing none with what is written. Of two tokens of one place each element is either's.
#pragma once

#include <cstdint>

#include "../common/dtype.h"
#include "../common/paged.h"
#include "../common/parallel_for.h"
#include "../rope/rope.h"

namespace cudaops_kernels {

struct TokenHeads {
  const void* data;
  RopeStrides strides;
};

struct RopeAppendKv {
  int64_t num_batches;
  int64_t seq_length;
  int64_t num_heads;
  int64_t num_kv_heads;
  int64_t head_dim;
  int64_t rotary_dim;
  int64_t num_positions;
  int64_t num_blocks;
  int64_t page_size;
  int64_t blocks_per_sequence;
  DType dtype;
  DType table_dtype;
  PositionType position_type;
  bool interleaved;
  bool has_float8_cache;
  TokenHeads q, k, v;
  void* q_out;
  WrittenCache k_cache, v_cache;
  const void* cos;
  const void* sin;
  const void* positions;
  const int32_t* block_table;  // contiguous
};

// Device pointers, aligned to their element size; fastest where heads and their halves start at
// multiples of four elements. Enqueues one kernel on `stream` (a cudaStream_t) of the current
// device and returns. Throws std::runtime_error when the launch fails.
void launch_rope_append_kv(const RopeAppendKv& call, void* stream);

// Host pointers. Returns when the results are written. Doesn't throw.
void rope_append_kv_cpu(const RopeAppendKv& call, ParallelFor parallel_for = serial_for);

}  // namespace cudaops_kernels
