// SPDX-License-Identifier: Apache-2.0
// The kernel of rope.
//
// A thread takes two chunks of a head that belong together: for GPT-NeoX's pairs one of either
// half. A chunk has 16 bytes, or as many as alignments and sizes allow; with smaller ones a thread
// takes as many heads as bring it to the same number of bytes in flight, and its part of the tables
// serves them all. A block has all heads of some tokens, or a part of one token's, so that the rows
// of the tables are read once from L2.
#pragma once

#include <cuda_runtime.h>
#include <cudaops/check.h>

#include <type_traits>

#include "../common/pointwise.cuh"
#include "rope.h"

namespace cudaops_kernels {
namespace rotary {

constexpr int kThreads = 256;
constexpr int kChunkBytes = 16;  // at most

// What one instruction moves.
template <int kBytes>
struct ChunkOf;
template <>
struct ChunkOf<16> {
  using Type = uint4;
};
template <>
struct ChunkOf<8> {
  using Type = uint2;
};
template <>
struct ChunkOf<4> {
  using Type = uint32_t;
};
template <>
struct ChunkOf<2> {
  using Type = uint16_t;
};
template <int kBytes>
using Chunk = typename ChunkOf<kBytes>::Type;

template <int kBytes>
__device__ __forceinline__ Bytes<kBytes> load_words(const void* data) {
  constexpr int kPart = kBytes < kChunkBytes ? kBytes : kChunkBytes;
  Bytes<kBytes> words = {};
#pragma unroll
  for (int i = 0; i < kBytes / kPart; ++i) {
    const Chunk<kPart> part = static_cast<const Chunk<kPart>*>(data)[i];
    memcpy(&words.words[i * kPart / 4], &part, kPart);
  }
  return words;
}

template <typename T, int kSize>
__device__ __forceinline__ Floats<kSize> numbers_of(
    const Bytes<kSize* static_cast<int>(sizeof(T))>& words) {
  return unpack_words<T, kSize>(words.words);
}

template <typename T, int kSize>
__device__ __forceinline__ Bytes<kSize* static_cast<int>(sizeof(T))> words_of(
    const Floats<kSize>& numbers) {
  Bytes<kSize* static_cast<int>(sizeof(T))> words;
  pack_words<T>(numbers, words.words);
  return words;
}

// A RopeHeads with strides in chunks.
struct Heads {
  const void* input;
  void* output;
  RopeStrides input_strides;
  RopeStrides output_strides;
};

struct RopeGrid {
  Heads q, k;
  uint32_t num_q_heads;
  uint32_t num_heads;    // of both
  uint32_t num_groups;   // a thread's heads are that many apart
  uint32_t half_chunks;  // of what is rotated
  uint32_t head_chunks;  // of all
  uint32_t token_threads;
  detail::Divider head_threads;
  detail::Divider blocks_per_token;
  detail::Divider blocks_per_batch;  // of blocks_per_token blocks each
  int64_t seq_length;
  int64_t num_positions;
  int64_t rotary_pairs;
  const void* cos;
  const void* sin;
  const void* positions;
  PositionType position_type;
  bool interleaved;
  bool backward;
};

template <typename T>
__device__ __forceinline__ T choose(bool second, const T& a, const T& b) {
  return second ? b : a;
}

__device__ __forceinline__ int64_t offset_of(bool of_k, const RopeStrides& q, const RopeStrides& k,
                                             uint32_t batch, int64_t token, uint32_t head) {
  return choose(of_k, q.batch, k.batch) * batch + choose(of_k, q.token, k.token) * token +
         choose(of_k, q.head, k.head) * head;
}

// A part of a row of cos or sin, as numbers. `ones` makes them NaN (every type's NaN has all bits
// set), `flips` changes their signs.
template <typename Table, int kSize>
__device__ __forceinline__ Floats<kSize> load_table(const void* table, int64_t first, uint32_t ones,
                                                    uint32_t flips) {
  auto words =
      load_words<kSize* static_cast<int>(sizeof(Table))>(static_cast<const Table*>(table) + first);
#pragma unroll
  for (int i = 0; i < words.kWords; ++i) words.words[i] = (words.words[i] | ones) ^ flips;
  return numbers_of<Table, kSize>(words);
}

// A thread's. With a table of larger elements than the heads' twice as many, for what is read of
// the table would else be more than what is read of them.
template <typename T, typename Table, int kBytes>
constexpr int kHeadsEach = kBytes == kChunkBytes ? (sizeof(Table) > sizeof(T) ? 2 : 1)
                                                 : kChunkBytes / kBytes;

// Interleaved with one element a chunk: the two chunks are a pair.
template <typename T, typename Table, int kBytes, bool kInterleaved>
__global__ void __launch_bounds__(kThreads) rope_kernel(const RopeGrid grid) {
  constexpr int kSize = kBytes / static_cast<int>(sizeof(T));
  constexpr int kHeads = kHeadsEach<T, Table, kBytes>;
  static_assert(!kInterleaved || kSize > 1, "a chunk has whole pairs");

  const uint32_t row = grid.blocks_per_token.quotient(blockIdx.x);
  const uint32_t thread =
      (blockIdx.x - row * grid.blocks_per_token.divisor()) * blockDim.x + threadIdx.x;
  const uint32_t batch = grid.blocks_per_batch.quotient(row);
  const int64_t token =
      int64_t{row - batch * grid.blocks_per_batch.divisor()} * blockDim.y + threadIdx.y;
  if (thread >= grid.token_threads || token >= grid.seq_length) return;
  const uint32_t group = grid.head_threads.quotient(thread);
  const uint32_t part = thread - group * grid.head_threads.divisor();

  // Behind the rotated chunks threads take two of the others each, the last one perhaps one twice.
  const bool rotates = part < grid.half_chunks;
  uint32_t first = part, second = part + grid.half_chunks;
  if (!rotates) {
    first += grid.half_chunks;
    second = first + grid.head_threads.divisor() - grid.half_chunks;
    if (second >= grid.head_chunks) second = first;
  } else if (kSize == 1 && grid.interleaved) {
    first = 2 * part;
    second = first + 1;
  }

  Bytes<kBytes> a[kHeads], b[kHeads];
#pragma unroll
  for (int i = 0; i < kHeads; ++i) {
    // A head that isn't there: another one is read and not written.
    uint32_t head = group + static_cast<uint32_t>(i) * grid.num_groups;
    if (kHeads > 1 && head >= grid.num_heads) head = grid.num_heads - 1;
    const bool of_k = head >= grid.num_q_heads;
    const Chunk<kBytes>* const input =
        static_cast<const Chunk<kBytes>*>(choose(of_k, grid.q.input, grid.k.input)) +
        offset_of(of_k, grid.q.input_strides, grid.k.input_strides, batch, token,
                  of_k ? head - grid.num_q_heads : head);
    a[i] = load_words<kBytes>(input + first);
    b[i] = load_words<kBytes>(input + second);
  }

  if (rotates) {
    // Behind the loads above, as everything from here on waits for it.
    int64_t position = token;
    if (grid.positions != nullptr) {
      const int64_t index = batch * grid.seq_length + token;
      position = grid.position_type == PositionType::kInt32
                     ? static_cast<const int32_t*>(grid.positions)[index]
                     : static_cast<const int64_t*>(grid.positions)[index];
    }
    const bool is_in_table = position >= 0 && position < grid.num_positions;
    const uint32_t ones = is_in_table ? 0 : 0xffffffffu;
    const uint32_t sign = sizeof(Table) == 4 ? 0x80000000u : 0x80008000u;
    const uint32_t flips = grid.backward ? sign : 0;
    const int64_t table_row = (is_in_table ? position : 0) * grid.rotary_pairs;
    if constexpr (kInterleaved) {
      constexpr int kPairs = kSize / 2;
      const int64_t at_first = table_row + int64_t{first} * kPairs;
      const int64_t at_second = table_row + int64_t{second} * kPairs;
      const auto cos_a = load_table<Table, kPairs>(grid.cos, at_first, ones, 0);
      const auto sin_a = load_table<Table, kPairs>(grid.sin, at_first, ones, flips);
      const auto cos_b = load_table<Table, kPairs>(grid.cos, at_second, ones, 0);
      const auto sin_b = load_table<Table, kPairs>(grid.sin, at_second, ones, flips);
      const auto rotated = [](const Bytes<kBytes>& words, const Floats<kPairs>& cos,
                              const Floats<kPairs>& sin) {
        const Floats<kSize> x = numbers_of<T, kSize>(words);
        Floats<kSize> y;
#pragma unroll
        for (int k = 0; k < kPairs; ++k) {
          y[2 * k] = x[2 * k] * cos[k] - x[2 * k + 1] * sin[k];
          y[2 * k + 1] = x[2 * k + 1] * cos[k] + x[2 * k] * sin[k];
        }
        return words_of<T, kSize>(y);
      };
#pragma unroll
      for (int i = 0; i < kHeads; ++i) {
        a[i] = rotated(a[i], cos_a, sin_a);
        b[i] = rotated(b[i], cos_b, sin_b);
      }
    } else {
      const int64_t at = table_row + int64_t{part} * kSize;
      const auto cos = load_table<Table, kSize>(grid.cos, at, ones, 0);
      const auto sin = load_table<Table, kSize>(grid.sin, at, ones, flips);
#pragma unroll
      for (int i = 0; i < kHeads; ++i) {
        const Floats<kSize> x = numbers_of<T, kSize>(a[i]), y = numbers_of<T, kSize>(b[i]);
        a[i] = words_of<T, kSize>(x * cos - y * sin);
        b[i] = words_of<T, kSize>(y * cos + x * sin);
      }
    }
  }

#pragma unroll
  for (int i = 0; i < kHeads; ++i) {
    const uint32_t head = group + static_cast<uint32_t>(i) * grid.num_groups;
    if (kHeads > 1 && head >= grid.num_heads) break;
    const bool of_k = head >= grid.num_q_heads;
    Chunk<kBytes>* const output =
        static_cast<Chunk<kBytes>*>(choose(of_k, grid.q.output, grid.k.output)) +
        offset_of(of_k, grid.q.output_strides, grid.k.output_strides, batch, token,
                  of_k ? head - grid.num_q_heads : head);
    Chunk<kBytes> chunk;
    memcpy(&chunk, a[i].words, kBytes);
    output[first] = chunk;
    memcpy(&chunk, b[i].words, kBytes);
    output[second] = chunk;
  }
}

}  // namespace rotary
}  // namespace cudaops_kernels
