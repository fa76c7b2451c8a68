// SPDX-License-Identifier: Apache-2.0
// rope by rows: all heads of a token are whole 16-byte vectors together, and go through shared
// memory. For chunks of less than 16 bytes (rope_chunks.cuh), which from device memory take more
// instructions than it has time for.
#pragma once

#include <algorithm>

#include "../common/async_copy.cuh"
#include "rope_grid.cuh"

namespace cudaops_kernels {
namespace rotary {

// A token's row: q's heads and behind them k's.
struct RopeRows {
  uint32_t q_vectors, vectors;
  uint32_t head_chunks;
};

// A thread takes two chunks, as in rope_kernel, of every num_groups-th head.
template <typename T, typename Table, int kBytes, bool kInterleaved>
__global__ void __launch_bounds__(kThreads)
    rope_rows_kernel(const RopeGrid grid, const RopeRows rows) {
  constexpr int kSize = kBytes / static_cast<int>(sizeof(T));
  extern __shared__ uint4 shared[];
  uint4* const row = shared + threadIdx.y * rows.vectors;
  const uint32_t batch = grid.blocks_per_batch.quotient(blockIdx.x);
  const int64_t last = grid.seq_length - 1;
  int64_t token =
      int64_t{blockIdx.x - batch * grid.blocks_per_batch.divisor()} * blockDim.y + threadIdx.y;
  // A token that isn't there: the last one is read, and not written.
  const bool exists = token <= last;
  if (!exists) token = last;
  // The row's vectors in memory: q's, and k's so that both count from the row's first.
  const auto vectors_of = [&](const void* data, const RopeStrides& strides) {
    return reinterpret_cast<const uint4*>(static_cast<const Chunk<kBytes>*>(data) +
                                          strides.batch * batch + strides.token * token);
  };
  const uint4* const q_input = vectors_of(grid.q.input, grid.q.input_strides);
  const uint4* const k_input = vectors_of(grid.k.input, grid.k.input_strides) - rows.q_vectors;
  for (uint32_t i = threadIdx.x; i < rows.vectors; i += blockDim.x) {
    const uint4* const from = choose(i >= rows.q_vectors, q_input, k_input) + i;
#if CUDAOPS_HAS_ASYNC_COPY
    begin_copy(shared_address(row + i), from);
#else
    row[i] = *from;
#endif
  }
  const uint32_t group = grid.head_threads.quotient(threadIdx.x);
  const uint32_t part = threadIdx.x - group * grid.head_threads.divisor();
  const Place place = rotated_place<kSize>(grid, part);
  const Turn<T, Table, kBytes, kInterleaved> turn(grid, batch, token, part, place);
#if CUDAOPS_HAS_ASYNC_COPY
  wait_for_copies();
#endif
  __syncthreads();
  Chunk<kBytes>* first =
      reinterpret_cast<Chunk<kBytes>*>(row) + group * rows.head_chunks + place.first;
  Chunk<kBytes>* second = first + (place.second - place.first);
  const uint32_t step = grid.num_groups * rows.head_chunks;
  for (uint32_t head = group; head < grid.num_heads; head += grid.num_groups) {
    Bytes<kBytes> a = load_words<kBytes>(first), b = load_words<kBytes>(second);
    turn(a, b);
    store_words(first, a);
    store_words(second, b);
    first += step;
    second += step;
  }
  __syncthreads();
  if (!exists) return;
  uint4* const q_output = const_cast<uint4*>(vectors_of(grid.q.output, grid.q.output_strides));
  uint4* const k_output =
      const_cast<uint4*>(vectors_of(grid.k.output, grid.k.output_strides)) - rows.q_vectors;
  for (uint32_t i = threadIdx.x; i < rows.vectors; i += blockDim.x) {
    choose(i >= rows.q_vectors, q_output, k_output)[i] = row[i];
  }
}

// Whether the heads of each token stand side by side, from a multiple of 16 bytes to another.
template <typename T>
bool has_whole_rows(const Rope& call, const RopeHeads& heads) {
  if (heads.num_heads == 0) return true;
  const auto fits = [&](const void* data, const RopeStrides& strides) {
    const int64_t batch = call.num_batches > 1 ? strides.batch : 0;
    const int64_t token = call.seq_length > 1 ? strides.token : 0;
    const int64_t bits = (batch | token | heads.num_heads * call.head_dim) * sizeof(T) |
                         static_cast<int64_t>(reinterpret_cast<uintptr_t>(data));
    return bits % kChunkBytes == 0 && (heads.num_heads == 1 || strides.head == call.head_dim);
  };
  return fits(heads.input, heads.input_strides) && fits(heads.output, heads.output_strides);
}

// By rope_rows_kernel; false: it doesn't take the call. rest: how many elements of a head are
// copied as they are.
template <typename T, typename Table, int kBytes>
bool launch_rows(const Rope& call, int64_t rest, cudaStream_t stream) {
  constexpr int64_t kSize = kBytes / sizeof(T), kMostSharedBytes = 32 << 10;
  const int64_t num_heads = call.q.num_heads + call.k.num_heads;
  const int64_t row_bytes = num_heads * call.head_dim * sizeof(T);
  Division by{};
  by.half_chunks = by.head_threads = call.rotary_dim / 2 / kSize;
  // In place most of a head may stay as it is.
  const bool is_sparse = 2 * (call.rotary_dim + rest) < call.head_dim;
  if (is_sparse || by.half_chunks == 0 || by.half_chunks > kThreads ||
      row_bytes > kMostSharedBytes || !has_whole_rows<T>(call, call.q) ||
      !has_whole_rows<T>(call, call.k)) {
    return false;
  }
  // As many groups as there is room for, which have the same number of heads, or one less.
  const int64_t most_groups = std::min(kThreads / by.half_chunks, num_heads);
  const int64_t heads_each = (num_heads + most_groups - 1) / most_groups;
  by.num_groups = (num_heads + heads_each - 1) / heads_each;
  by.token_threads = by.num_groups * by.half_chunks;
  by.blocks_per_token = 1;
  const int64_t threads_y =
      std::min({kThreads / by.token_threads, kMostSharedBytes / row_bytes, call.seq_length});
  by.blocks_per_batch = (call.seq_length + threads_y - 1) / threads_y;
  const RopeGrid grid = grid_of<T, kBytes>(call, by);
  const RopeRows rows{
      static_cast<uint32_t>(call.q.num_heads * call.head_dim * sizeof(T) / kChunkBytes),
      static_cast<uint32_t>(row_bytes / kChunkBytes), static_cast<uint32_t>(call.head_dim / kSize)};
  const unsigned int blocks = static_cast<unsigned int>(call.num_batches * by.blocks_per_batch);
  const dim3 block(static_cast<unsigned int>(by.token_threads),
                   static_cast<unsigned int>(threads_y));
  const size_t shared_bytes = static_cast<size_t>(threads_y * row_bytes);
  with_pairs<T, kBytes>(call, [&](auto interleaved) {
    rope_rows_kernel<T, Table, kBytes, interleaved.value>
        <<<blocks, block, shared_bytes, stream>>>(grid, rows);
    CUDAOPS_CHECK_LAUNCH();
  });
  return true;
}

}  // namespace rotary
}  // namespace cudaops_kernels
