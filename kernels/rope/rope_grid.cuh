// SPDX-License-Identifier: Apache-2.0
// What rope's kernels share: chunks, the tables' numbers, the grid.
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
    if constexpr (kPart == 2) {
      words.words[0] = part;
    } else {
      memcpy(&words.words[i * kPart / 4], &part, kPart);
    }
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

// The chunks of a head that are a thread's. Interleaved with one element a chunk they are a pair.
struct Place {
  uint32_t first, second;
};
template <int kSize>
__device__ __forceinline__ Place rotated_place(const RopeGrid& grid, uint32_t part) {
  if (kSize == 1 && grid.interleaved) return {2 * part, 2 * part + 1};
  return {part, part + grid.half_chunks};
}

// The numbers of the tables for a thread's chunks of one token, which serve all its heads.
template <typename T, typename Table, int kBytes, bool kInterleaved>
class Turn {
  static constexpr int kSize = kBytes / static_cast<int>(sizeof(T));
  static constexpr int kPairs = kInterleaved ? kSize / 2 : kSize;
  static_assert(!kInterleaved || kSize > 1, "a chunk has whole pairs");
  using Words = Bytes<kBytes>;
  using Numbers = Floats<kPairs>;

 public:
  __device__ __forceinline__ Turn(const RopeGrid& grid, uint32_t batch, int64_t token,
                                  uint32_t part, const Place& place) {
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
    const int64_t row = (is_in_table ? position : 0) * grid.rotary_pairs;
    const int64_t at = row + int64_t{kInterleaved ? place.first : part} * kPairs;
    cos_[0] = load_table<Table, kPairs>(grid.cos, at, ones, 0);
    sin_[0] = load_table<Table, kPairs>(grid.sin, at, ones, flips);
    if constexpr (kInterleaved) {
      const int64_t at_second = row + int64_t{place.second} * kPairs;
      cos_[1] = load_table<Table, kPairs>(grid.cos, at_second, ones, 0);
      sin_[1] = load_table<Table, kPairs>(grid.sin, at_second, ones, flips);
    }
  }

  __device__ __forceinline__ void operator()(Words& a, Words& b) const {
    if constexpr (kInterleaved) {
      a = of_pairs(a, cos_[0], sin_[0]);
      b = of_pairs(b, cos_[1], sin_[1]);
    } else {
      const Floats<kSize> x = numbers_of<T, kSize>(a), y = numbers_of<T, kSize>(b);
      Floats<kSize> turned_x, turned_y;
#pragma unroll
      for (int k = 0; k < kSize; ++k) {
        turned_x[k] = first_of(x[k], y[k], cos_[0][k], sin_[0][k]);
        turned_y[k] = second_of(x[k], y[k], cos_[0][k], sin_[0][k]);
      }
      a = words_of<T, kSize>(turned_x);
      b = words_of<T, kSize>(turned_y);
    }
  }

 private:
  // Which product is fused is said here: left to the compiler, it would differ from kernel to
  // kernel, and the last bit with it.
  __device__ __forceinline__ static float first_of(float a, float b, float cos, float sin) {
    return fmaf(-b, sin, __fmul_rn(a, cos));
  }
  __device__ __forceinline__ static float second_of(float a, float b, float cos, float sin) {
    return fmaf(a, sin, __fmul_rn(b, cos));
  }
  __device__ __forceinline__ static Words of_pairs(const Words& words, const Numbers& cos,
                                                   const Numbers& sin) {
    const Floats<kSize> x = numbers_of<T, kSize>(words);
    Floats<kSize> y;
#pragma unroll
    for (int k = 0; k < kPairs; ++k) {
      y[2 * k] = first_of(x[2 * k], x[2 * k + 1], cos[k], sin[k]);
      y[2 * k + 1] = second_of(x[2 * k], x[2 * k + 1], cos[k], sin[k]);
    }
    return words_of<T, kSize>(y);
  }

  Numbers cos_[kInterleaved ? 2 : 1], sin_[kInterleaved ? 2 : 1];
};

template <int kBytes>
__device__ __forceinline__ void store_words(void* data, const Bytes<kBytes>& words) {
  Chunk<kBytes> chunk;
  memcpy(&chunk, words.words, kBytes);
  *static_cast<Chunk<kBytes>*>(data) = chunk;
}

constexpr int64_t kMostBlocks = 0x7fffffff;

template <typename T, int kBytes>
Heads in_chunks(const RopeHeads& heads) {
  constexpr int64_t kSize = kBytes / sizeof(T);
  const auto divided = [](const RopeStrides& strides) {
    return RopeStrides{strides.batch / kSize, strides.token / kSize, strides.head / kSize};
  };
  return {heads.input, heads.output, divided(heads.input_strides), divided(heads.output_strides)};
}

// How a token's threads are divided.
struct Division {
  int64_t half_chunks, head_chunks, head_threads, num_groups;
  int64_t token_threads, blocks_per_token, blocks_per_batch;
};

template <typename T, int kBytes>
RopeGrid grid_of(const Rope& call, const Division& by) {
  if (call.q.num_heads + call.k.num_heads > kMostBlocks || by.token_threads > kMostBlocks ||
      by.blocks_per_batch > kMostBlocks ||
      call.num_batches > kMostBlocks / by.blocks_per_batch / by.blocks_per_token) {
    cudaops::throw_runtime_error("rope: wanted work for at most 2147483647 blocks, found more.");
  }
  return {in_chunks<T, kBytes>(call.q),
          in_chunks<T, kBytes>(call.k),
          static_cast<uint32_t>(call.q.num_heads),
          static_cast<uint32_t>(call.q.num_heads + call.k.num_heads),
          static_cast<uint32_t>(by.num_groups),
          static_cast<uint32_t>(by.half_chunks),
          static_cast<uint32_t>(by.head_chunks),
          static_cast<uint32_t>(by.token_threads),
          detail::Divider(static_cast<uint32_t>(by.head_threads)),
          detail::Divider(static_cast<uint32_t>(by.blocks_per_token)),
          detail::Divider(static_cast<uint32_t>(by.blocks_per_batch)),
          call.seq_length,
          call.num_positions,
          call.rotary_dim / 2,
          call.cos,
          call.sin,
          call.positions,
          call.position_type,
          call.interleaved,
          call.backward};
}

// launch(the kernels' kInterleaved)
template <typename T, int kBytes, typename Launch>
void with_pairs(const Rope& call, const Launch& launch) {
  if constexpr (kBytes > sizeof(T)) {
    if (call.interleaved) return launch(std::true_type());
  }
  launch(std::false_type());
}

}  // namespace rotary
}  // namespace cudaops_kernels
