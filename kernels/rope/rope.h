// SPDX-License-Identifier: Apache-2.0
// rope: rotary position embedding (Su et al.: RoFormer: enhanced transformer with rotary position
// embedding, 2021) of queries and keys. The first rotary_dim elements of each head are pairs
// (a, b), turned by the angle whose cosine and sine stand in the row of the token's position:
//
//   a' = a * cos - b * sin
//   b' = b * cos + a * sin      rounded once; the other elements of the head are copied
//
// Pair i is of elements i and i + rotary_dim / 2 (GPT-NeoX, Llama) or, interleaved, of 2i and
// 2i + 1 (GPT-J). The gradient is the rotation by the negative angle: `backward`.
//
// Shapes   q: [num_batches, seq_length, num_heads, head_dim], k the same with its own num_heads,
//          cos and sin: [num_positions, rotary_dim / 2], positions: [num_batches, seq_length].
//          All counts may be 0; rotary_dim is even and at most head_dim.
// Types    float32, float16, bfloat16 for q and k alike; cos and sin have that type or float32.
//          Arithmetic is in float32.
// Position without positions it is the index in seq_length. Where there is no row for it, the pairs
//          become NaN, and nothing outside the tables is read.
// Strides  those of batches, tokens and heads are free; the elements of a head and the tables are
//          contiguous.
// Aliasing an output may be its input, with the same strides; no other overlap.
// Results  the same bits from run to run, in place or not; on devices also wherever heads lie.
#pragma once

#include <cstdint>

#include "../common/dtype.h"
#include "../common/parallel_for.h"

namespace cudaops_kernels {

// In elements.
struct RopeStrides {
  int64_t batch;
  int64_t token;
  int64_t head;
};

// The queries or the keys.
struct RopeHeads {
  int64_t num_heads;
  const void* input;
  RopeStrides input_strides;
  void* output;
  RopeStrides output_strides;
};

enum class PositionType { kInt32, kInt64 };

struct Rope {
  int64_t num_batches;
  int64_t seq_length;
  int64_t head_dim;
  int64_t rotary_dim;
  int64_t num_positions;
  DType dtype;
  DType table_dtype;
  PositionType position_type;
  bool interleaved;
  bool backward;
  RopeHeads q;
  RopeHeads k;
  const void* cos;
  const void* sin;
  const void* positions;  // may be null
};

// Device pointers, aligned to their element size; fastest where heads, their halves and tables
// start at multiples of 16 bytes. Enqueues one kernel on `stream` (a cudaStream_t) of the current
// device and returns. Throws std::runtime_error when the launch fails, and for tables without rows
// or more tokens than 2^31 blocks hold (a block takes 256 threads' worth of one batch's tokens).
void launch_rope(const Rope& call, void* stream);

// Host pointers. Returns when the results are written. Doesn't throw.
void rope_cpu(const Rope& call, ParallelFor parallel_for = serial_for);

// The position of token `index` of all batches' tokens. Host pointers.
inline int64_t position_at(const Rope& call, int64_t index) {
  if (call.positions == nullptr) return index % call.seq_length;
  if (call.position_type == PositionType::kInt32) {
    return static_cast<const int32_t*>(call.positions)[index];
  }
  return static_cast<const int64_t*>(call.positions)[index];
}

}  // namespace cudaops_kernels
