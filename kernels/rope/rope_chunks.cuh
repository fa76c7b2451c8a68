// SPDX-License-Identifier: Apache-2.0
// rope by chunks of heads, wherever they lie.
//
// A thread takes two chunks of a head that belong together: for GPT-NeoX's pairs one of either
// half. A chunk has 16 bytes, or as many as alignments and sizes allow; with smaller ones a thread
// takes as many heads as bring it to the same number of bytes in flight, and its part of the tables
// serves them all. A block has all heads of some tokens, or a part of one token's, so that the rows
// of the tables are read once from L2.
#pragma once

#include <algorithm>

#include "rope_grid.cuh"

namespace cudaops_kernels {
namespace rotary {

// A thread's. With a table of larger elements than the heads' twice as many, for what is read of
// the table would else be more than what is read of them.
template <typename T, typename Table, int kBytes>
constexpr int kHeadsEach = kBytes == kChunkBytes ? (sizeof(Table) > sizeof(T) ? 2 : 1)
                                                 : kChunkBytes / kBytes;

template <typename T, typename Table, int kBytes, bool kInterleaved>
__global__ void __launch_bounds__(kThreads) rope_kernel(const RopeGrid grid) {
  constexpr int kSize = kBytes / static_cast<int>(sizeof(T));
  constexpr int kHeads = kHeadsEach<T, Table, kBytes>;

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
  Place place = rotated_place<kSize>(grid, part);
  if (!rotates) {
    place.first = part + grid.half_chunks;
    place.second = place.first + grid.head_threads.divisor() - grid.half_chunks;
    if (place.second >= grid.head_chunks) place.second = place.first;
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
    a[i] = load_words<kBytes>(input + place.first);
    b[i] = load_words<kBytes>(input + place.second);
  }

  if (rotates) {
    // Behind the loads above, as everything from here on waits for it.
    const Turn<T, Table, kBytes, kInterleaved> turn(grid, batch, token, part, place);
#pragma unroll
    for (int i = 0; i < kHeads; ++i) turn(a[i], b[i]);
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
    store_words(output + place.first, a[i]);
    store_words(output + place.second, b[i]);
  }
}

// The bytes that divide all sizes and addresses which a chunk may meet; at most a chunk's.
template <typename T>
int chunk_bytes(const Rope& call, int64_t rest) {
  constexpr int64_t kElement = sizeof(T);
  int64_t bits = kChunkBytes | call.rotary_dim / 2 * kElement | rest * kElement;
  const auto add_array = [&](const void* data, const RopeStrides& strides, int64_t num_heads) {
    bits |= static_cast<int64_t>(reinterpret_cast<uintptr_t>(data));
    if (call.num_batches > 1) bits |= strides.batch * kElement;
    if (call.seq_length > 1) bits |= strides.token * kElement;
    if (num_heads > 1) bits |= strides.head * kElement;
  };
  for (const RopeHeads* heads : {&call.q, &call.k}) {
    if (heads->num_heads == 0) continue;
    add_array(heads->input, heads->input_strides, heads->num_heads);
    add_array(heads->output, heads->output_strides, heads->num_heads);
  }
  // A chunk's part of the tables has as many elements.
  for (const void* table : {call.cos, call.sin}) {
    bits |= static_cast<int64_t>(reinterpret_cast<uintptr_t>(table)) /
            (size_of(call.table_dtype) / kElement);
  }
  return static_cast<int>(bits & -bits);
}

template <typename T, typename Table, int kBytes>
void launch_chunks(const Rope& call, int64_t rest, cudaStream_t stream) {
  constexpr int64_t kSize = kBytes / sizeof(T), kHeads = kHeadsEach<T, Table, kBytes>;
  const int64_t num_heads = call.q.num_heads + call.k.num_heads;
  Division by{};
  by.num_groups = (num_heads + kHeads - 1) / kHeads;
  by.half_chunks = call.rotary_dim / 2 / kSize;
  by.head_chunks = 2 * by.half_chunks + rest / kSize;
  by.head_threads = by.half_chunks + (rest / kSize + 1) / 2;
  by.token_threads = by.num_groups * by.head_threads;
  if (by.token_threads == 0) return;
  const int64_t num_parts = (by.token_threads + kThreads - 1) / kThreads;
  int64_t threads_x = by.token_threads, threads_y = 1;
  by.blocks_per_token = 1;
  if (num_parts == 1) {
    threads_y = std::min(kThreads / by.token_threads, call.seq_length);
  } else {
    // Parts of one size, of whole warps.
    threads_x = ((by.token_threads + num_parts - 1) / num_parts + 31) / 32 * 32;
    by.blocks_per_token = (by.token_threads + threads_x - 1) / threads_x;
  }
  by.blocks_per_batch = (call.seq_length + threads_y - 1) / threads_y;
  const RopeGrid grid = grid_of<T, kBytes>(call, by);
  const unsigned int blocks =
      static_cast<unsigned int>(call.num_batches * by.blocks_per_batch * by.blocks_per_token);
  const dim3 block(static_cast<unsigned int>(threads_x), static_cast<unsigned int>(threads_y));
  with_pairs<T, kBytes>(call, [&](auto interleaved) {
    rope_kernel<T, Table, kBytes, interleaved.value><<<blocks, block, 0, stream>>>(grid);
    CUDAOPS_CHECK_LAUNCH();
  });
}

}  // namespace rotary
}  // namespace cudaops_kernels
