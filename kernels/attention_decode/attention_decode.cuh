// SPDX-License-Identifier: Apache-2.0
// attention_decode on tensor cores (mma.cuh: sm_80 and later): what limits it is the reading of
// keys and values, so all multiprocessors read all the time, whatever the sequences' lengths.
//
// Work   An item is up to 16 queries that read one head of one sequence: the rows of a matrix
//        product. Its keys come in units of 64. The units of all items, one behind the other, are
//        cut into equal parts, one for each block of the grid, which all run at once: a part can
//        end within an item and hold several. Lengths are read on the device: a captured graph
//        serves others too. Items of a sequence that lie side by side in memory are read side by
//        side: as many blocks have the same part, each of its own item. Memory is faster so than
//        with a head's pieces alone, and items that share keys find them in the cache.
// Block  Its warps take 16 keys of a unit each, and have copies of their next ones in flight
//        (cp.async), a softmax and sums of their own: no warp waits for another until a part of an
//        item ends.
//        What a block needs first, its first unit too (two of long parts), is brought to the L2
//        cache before the kernel before has ended; what is found out for that stands, of few
//        sequences, unless that kernel writes other lengths. Where the keys of 32 units lie is
//        read at once.
// Merge  Where an item is in one part its block writes the result. Else each part's sums go to the
//        workspace, and are added by a second kernel, in an order that follows from their number.
//        It has more warps for an item than a block of the first one would; it waits beside that,
//        with its work found out, and what it reads then of 32 parts is in flight at a time.
//        On sm_90 and later short keys of few sequences are one launch: each item has a cluster of
//        eight blocks with equal parts, which read each other's sums from shared memory.
#pragma once

#include <cudaops/check.h>

#include "attention_decode_block.cuh"

namespace cudaops_kernels {
namespace decode {

#if !CUDAOPS_HIP

// How a block is made: four warps with three tiles each, of rows of 128 bytes six, which hide the
// memory's latency with another block on a multiprocessor that has 227 KiB. Where items share keys,
// products take longer than reading: then warps have about half the tiles, for more blocks; so they
// always have where rows are of 64 bytes. A block of head_dim 128 may have a multiprocessor for
// itself, and six tiles.
enum class Share { kUsual, kMany, kWhole };
constexpr int usual_stages_of(int row_bytes) { return row_bytes > 64 && row_bytes <= 128 ? 6 : 3; }
constexpr bool has_whole(int dim, int row_bytes) { return dim == 128 && row_bytes == 256; }
constexpr int most_stages_of(int dim, int row_bytes) {
  return has_whole(dim, row_bytes) ? 6 : usual_stages_of(row_bytes);
}
template <typename Cache, int kDim>
struct PartMemory : Memory<Cache, kDim, 4, most_stages_of(kDim, kDim * sizeof(Cache))> {
  static constexpr bool kHasWhole = has_whole(kDim, PartMemory::kRowBytes);
  static constexpr int kUsualStages = usual_stages_of(PartMemory::kRowBytes);
  static constexpr int kFewerStages = PartMemory::kRowBytes <= 128 ? 3 : 2, kFewestStages = 2;
  // The kernel's own are 2 KiB.
  static constexpr int bytes_of_block(int stages) { return PartMemory::bytes(stages) + 2048; }
  static constexpr int kMoreBlocks = kDim > 128 ? 2 : kDim > 64 ? 3 : 4;
  static constexpr int kBlocks = PartMemory::kRowBytes <= 64 ? kMoreBlocks : 2;
  static constexpr int kUnit = PartMemory::kWarps * kTile;
};

#if CUDAOPS_HAS_MMA

// What all blocks read before they know their keys, to the second-level cache, by all of them
// together: no part of it waits for another then. It may still be written by a kernel before.
template <typename T>
__device__ __forceinline__ void prefetch_inputs(const AttentionDecode& call) {
  constexpr int kLine = 128;
  int64_t line = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const auto prefetch = [&](const void* data, int64_t bytes) {
    if (line >= 0 && line * kLine < bytes) {
      prefetch_line(static_cast<const char*>(data) + line * kLine);
    }
    line -= (bytes + kLine - 1) / kLine;
  };
  if (call.lengths != nullptr) prefetch(call.lengths, call.num_batches * 4);
  if (call.block_table != nullptr) {
    prefetch(call.block_table,
             ((call.num_batches - 1) * call.block_table_stride + call.blocks_per_sequence) * 4);
  }
  prefetch(call.q, ((call.num_batches - 1) * call.q_batch_stride +
                    (call.q_length - 1) * call.q_token_stride +
                    (call.num_heads - 1) * call.q_head_stride + call.head_dim) *
                       static_cast<int>(sizeof(T)));
}

#if CUDAOPS_HAS_HOPPER
// The keys and values of a unit of a sequence's, likewise: half of the threads have a key each,
// half a value. What the table says may still change: all of it is within bounds, and no more than
// a hint.
template <typename Cache, int kDim, bool kIsPaged>
__device__ __forceinline__ void prefetch_unit(const Plan& plan, int batch, int kv_head, int length,
                                              int unit) {
  using M = PartMemory<Cache, kDim>;
  static_assert(M::kThreads == 2 * M::kUnit, "");
  const int thread = static_cast<int>(threadIdx.x);
  int token = unit * M::kUnit + thread % M::kUnit, block = 0;
  if (token >= length) return;
  if constexpr (kIsPaged) {
    const int page = page_of(plan, token);
    block = block_of<true>(plan, batch, page);
    if (block < 0 || block >= plan.call.num_blocks) return;
    token -= page * static_cast<int>(plan.call.page_size);
  }
  const PagedCache& cache = thread < M::kUnit ? plan.call.k : plan.call.v;
  const Cache* const row = first_of<Cache, kIsPaged>(plan, cache, batch, kv_head) +
                           block * cache.block_stride + token * cache.token_stride;
  constexpr int kLine = 128 / sizeof(Cache);
  for (int at = 0; at < plan.call.head_dim; at += kLine) prefetch_line(row + at);
}
// The first of a part.
template <typename Cache, int kDim>
__device__ __forceinline__ void prefetch_part(const Plan& plan, const Part& part, int place) {
  int in_head = part.column * plan.side_by_side + place;
  const int kv_head = plan.by_row_tiles.divide(&in_head);
  // Two of a long part: more, or two of short ones, take longer than they save.
  constexpr int kLong = 16;
  const int count = part.end - part.begin >= kLong && plan.row_tiles == 1 ? 2 : 1;
  const int first = unit_of(plan, part);
  for (int i = 0; i < count; ++i) {
    prefetch_unit<Cache, kDim, true>(plan, part.batch, kv_head, part.length, first + i);
  }
}
#endif

// A row of a part of an item, to where others add it.
template <int kDim>
__device__ __forceinline__ void store_sums(const Plan& plan, int slot, int row, float largest,
                                           float total, const LaneElements<kDim>& all) {
  const int head_dim = static_cast<int>(plan.call.head_dim);
  const int lane = static_cast<int>(threadIdx.x) % 32, first = lane * all.kCount;
  const int64_t at = int64_t{slot} * plan.slot_rows + row;
  if (first < head_dim) {
    *reinterpret_cast<LaneElements<kDim>*>(plan.sums + at * head_dim + first) = all;
  }
  if (lane == 0) *reinterpret_cast<float2*>(plan.states + 2 * at) = make_float2(largest, total);
}

// A row of an item that is in one part.
template <typename T, int kDim>
__device__ __forceinline__ void store_result(const Plan& plan, const Item& item, const Query& query,
                                             float largest, float total,
                                             const LaneElements<kDim>& all) {
  const int head_dim = static_cast<int>(plan.call.head_dim);
  const int lane = static_cast<int>(threadIdx.x) % 32, first = lane * all.kCount;
  const Finish finish = Ending(plan, item, query).of(largest, total);
  if (first < head_dim) {
    T* const out = static_cast<T*>(plan.call.output) + output_row(plan, item, query) + first;
#pragma unroll
    for (int i = 0; i < all.kCount; ++i) out[i] = from_float<T>(all.at[i] * finish.factor);
  }
  if (lane == 0) store_lse(plan, item, query, finish.lse);
}

#endif

template <typename T, typename Cache, int kDim>
__global__ void __launch_bounds__(PartMemory<Cache, kDim>::kThreads,
                                  PartMemory<Cache, kDim>::kMoreBlocks)
    decode_kernel(const __grid_constant__ Plan plan) {
#if CUDAOPS_HAS_MMA
  extern __shared__ __align__(128) char memory[];
  prefetch_inputs<T>(plan.call);
  fetch_parameters(plan);
  const int part = static_cast<int>(blockIdx.x) / plan.side_by_side;
  const int place = static_cast<int>(blockIdx.x) - part * plan.side_by_side;
  bool has_waited = false;
  const auto wait = [&] {
    wait_for_kernels_before();
    // Behind it: what the second kernel reads before it waits has been written then.
    let_next_kernel_start();
    has_waited = true;
  };
  Schedule schedule(plan);
  if (CUDAOPS_HAS_HOPPER && Schedule::knows_all(plan)) {
    schedule.read_lengths<true>();
  } else {
    wait();
    schedule.read_lengths<false>();
  }
  // The part is found before the kernel before has ended, and by the same instructions once more:
  // of few sequences only where that kernel has written other lengths.
  constexpr int kFew = 24;
  Part own;
#pragma unroll 1
  for (;;) {
    schedule.cut();
    own = schedule.part(part);
    if (has_waited) break;
#if CUDAOPS_HAS_HOPPER
    if (!own.is_empty()) prefetch_part<Cache, kDim>(plan, own, place);
#endif
    wait();
    if (plan.call.num_batches > kFew) {
      schedule.read_lengths<false>();
    } else if (!schedule.has_changed(own)) {
      break;
    }
  }
  if (own.is_empty() && !plan.is_in_cluster) return;
  using M = PartMemory<Cache, kDim>;
  Block<T, Cache, kDim, M, true> block(plan, memory);
#if CUDAOPS_HAS_HOPPER
  // Of a cluster's block: its part's rows take the place of the first warp's sums.
  float* const own_sums = reinterpret_cast<float*>(memory + M::kQueryBytes);
  __shared__ float2 own_states[kRows];
  if (own.is_empty() && threadIdx.x < kRows) own_states[threadIdx.x] = make_float2(-INFINITY, 0);
#endif
  int batch = own.batch, column = own.column, first = own.first;
  for (int at = own.begin; at < own.end;) {
    const int index = column * plan.side_by_side + place;
    const Item item = item_of(plan, batch, index, schedule.length(batch));
    const int item_end = first + item.num_units, upto = min(item_end, own.end);
    int slot = -1;
    if (first < own.begin || item_end > own.end) {
      slot = slot_of_block(plan, static_cast<int>(blockIdx.x), first >= own.begin);
    }
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const Tiles tiles = {(item.first_unit + at - first) * M::kUnit + warp * kTile, M::kUnit,
                         upto - at};
    block.run(item, tiles, tiles.count,
              [&](int, int row, const Query& query, float largest, float total,
                  const LaneElements<kDim>& all) {
#if CUDAOPS_HAS_HOPPER
                if (plan.is_in_cluster) {
                  // All lanes have read their sums of the row.
                  __syncwarp();
                  reinterpret_cast<LaneElements<kDim>*>(own_sums + row * kDim)[threadIdx.x % 32] =
                      all;
                  if (threadIdx.x % 32 == 0) own_states[row] = make_float2(largest, total);
                  return;
                }
#endif
                if (slot >= 0) {
                  store_sums(plan, slot, row, largest, total, all);
                } else {
                  store_result<T>(plan, item, query, largest, total, all);
                }
              });
    // Before the next part's copies come where sums are.
    __syncthreads();
    at = upto;
    first = item_end;
    if (++column == plan.columns) {
      column = 0;
      ++batch;
    }
  }
#if CUDAOPS_HAS_HOPPER
  if (plan.is_in_cluster) {
    const Item item = item_of(plan, own.batch, own.column, schedule.length(own.batch));
    merge_in_cluster<T, kDim>(plan, item, own_sums, own_states);
  }
#endif
#endif
}

#endif

}  // namespace decode
}  // namespace cudaops_kernels
