// SPDX-License-Identifier: Apache-2.0
// attention of few queries (attention_few.h) by what attention_decode.cuh is made of. Sequences
// have one length, and neither table nor lengths in memory.
//
// Parts  Each item is cut by itself, after a number of units that the length decides: in any batch
//        the same. A block has as many parts of an item, one after the other, as leave each place
//        on the multiprocessors a block; it loads the next part while it ends one.
// Merge  A block with all parts of an item adds their sums, and writes the result; else the second
//        kernel does (few_merge_kernel), in the same order by the same instructions.
#pragma once

#include "attention_decode.cuh"

namespace cudaops_kernels {
namespace decode {

#if !CUDAOPS_HIP

// How a block of few_merge_kernel is used: a row's columns are divided among so many warps of it,
// its parts are added one after the other, those of a chunk in flight at a time.
template <int kDim, int kWarpsOfRow>
struct RowTeam {
  static constexpr int kWarps = kWarpsOfRow;
  static constexpr int kEach = kDim / 32 / kWarpsOfRow;  // neighbouring elements of a lane
  static constexpr int kPartsAtOnce = kWarpsOfRow == 1 ? 4 : 32;
};
// Few parts of many rows at once, or many of few.
CUDAOPS_HOST_DEVICE constexpr bool has_few_parts(int parts) { return parts <= 4; }
CUDAOPS_HOST_DEVICE constexpr int few_rows_at_once(int parts, int dim) {
  return has_few_parts(parts) ? kMergeWarps : kMergeWarps * 32 / dim;
}

// Sums that are relative to 2^largest, added part by part: the same instructions wherever that is
// done, for the same bits.
class Running {
 public:
  float largest = -INFINITY, total = 0;
  struct Factors {
    float kept, weight;
    __device__ __forceinline__ float add(float sum, float part) const {
      return __fmaf_rn(part, weight, __fmul_rn(sum, kept));
    }
  };
  __device__ __forceinline__ Factors add(float part_largest, float part_total) {
    const float both = fmaxf(largest, part_largest);
    const float base = both == -INFINITY ? 0.0f : both;
    const Factors factors = {detail::exp2_of(largest - base), detail::exp2_of(part_largest - base)};
    largest = both;
    total = factors.add(total, part_total);
    return factors;
  }
};

// Behind a block's tiles where it has all parts of an item: what those before have added up to.
template <int kDim>
constexpr int bytes_of_running(int rows) {
  return rows * static_cast<int>(kDim * sizeof(float) + sizeof(Running));
}

template <typename T, int kDim>
__global__ void __launch_bounds__(PartMemory<T, kDim>::kThreads, PartMemory<T, kDim>::kMoreBlocks)
    few_kernel(const __grid_constant__ Plan plan) {
#if CUDAOPS_HAS_MMA
  using M = PartMemory<T, kDim>;
  extern __shared__ __align__(128) char memory[];
  prefetch_inputs<T>(plan.call);
  fetch_parameters(plan);
  int group = static_cast<int>(blockIdx.x) / plan.side_by_side;  // of parts
  const int place = static_cast<int>(blockIdx.x) - group * plan.side_by_side;
  const int item_of_place = plan.by_groups.divide(&group);
  const int batch = item_of_place / plan.columns;
  const int column = item_of_place - batch * plan.columns;
  const Item item = item_of(plan, batch, column * plan.side_by_side + place, plan.most_keys);
  const int first_part = group * plan.parts_of_block, each = plan.units_of_part;
  const int begin = first_part * each;
  const int end = min(begin + plan.parts_of_block * each, item.num_units);
#if CUDAOPS_HAS_HOPPER
  prefetch_unit<T, kDim, false>(plan, batch, item.kv_head, item.length, item.first_unit + begin);
#endif
  wait_for_kernels_before();
  // Behind it: what the second kernel reads before it waits has been written then.
  let_next_kernel_start();
  Block<T, T, kDim, M, false> block(plan, memory);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const Tiles tiles = {(item.first_unit + begin) * M::kUnit + warp * kTile, M::kUnit, end - begin};
  using Elements = LaneElements<kDim>;
  Elements* const all_sums = reinterpret_cast<Elements*>(memory + M::bytes(plan.stages));
  Running* const all_running = reinterpret_cast<Running*>(all_sums + plan.slot_rows * 32);
  const int slot = (item_of_place * plan.parts_of_item + first_part) * plan.side_by_side + place;
  const bool has_all = plan.parts_of_block == plan.parts_of_item;
  block.run(
      item, tiles, each,
      [&](int part, int row, const Query& query, float largest, float total, const Elements& sums) {
        if (!has_all) {
          store_sums(plan, slot + part * plan.slot_stride, row, largest, total, sums);
          return;
        }
        // A row's parts come to the same warp, and to each lane its elements.
        Running running;
        Elements all{};
        if (part > 0) {
          running = all_running[row];
          all = all_sums[row * 32 + lane];
        }
        const Running::Factors factors = running.add(largest, total);
#pragma unroll
        for (int i = 0; i < all.kCount; ++i) all.at[i] = factors.add(all.at[i], sums.at[i]);
        if (part + 1 == plan.parts_of_item) {
          store_result<T>(plan, item, query, running.largest, running.total, all);
          return;
        }
        __syncwarp();
        all_sums[row * 32 + lane] = all;
        if (lane == 0) all_running[row] = running;
        __syncwarp();
      });
#endif
}

#if CUDAOPS_HAS_MMA

// The results of num_rows rows of an item, kWarps warps for each.
template <typename T, typename Team>
__device__ __forceinline__ void merge_few_rows(const Plan& plan, const Item& item, int first_slot,
                                               int first_row, int num_rows) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int head_dim = static_cast<int>(plan.call.head_dim);
  const int first = (warp % Team::kWarps * 32 + lane) * Team::kEach;
  const bool is_busy = warp / Team::kWarps < num_rows;
  const int row = first_row + (is_busy ? warp / Team::kWarps : 0);
  const Query query = query_of(plan, item, row);
  const Ending ending(plan, item, query);
  const auto row_of = [&](int part) {
    return int64_t{first_slot + part * plan.slot_stride} * plan.slot_rows + row;
  };
  wait_for_kernels_before();
  if (!is_busy) return;
  Running running;
  float sum[Team::kEach] = {};
#pragma unroll 1
  for (int begin = 0; begin < plan.parts_of_item; begin += Team::kPartsAtOnce) {
    const int count = min(Team::kPartsAtOnce, plan.parts_of_item - begin);
    float2 state = {};
    if (lane < count) {
      state = __ldcg(reinterpret_cast<const float2*>(plan.states) + row_of(begin + lane));
    }
    float part_sum[Team::kPartsAtOnce][Team::kEach] = {};
#pragma unroll
    for (int i = 0; i < Team::kPartsAtOnce; ++i) {
      if (i < count && first < head_dim) {
        load_sums(plan.sums + row_of(begin + i) * head_dim + first, part_sum[i]);
      }
    }
#pragma unroll
    for (int i = 0; i < Team::kPartsAtOnce; ++i) {
      if (i >= count) break;
      const Running::Factors factors =
          running.add(__shfl_sync(~0u, state.x, i), __shfl_sync(~0u, state.y, i));
#pragma unroll
      for (int j = 0; j < Team::kEach; ++j) sum[j] = factors.add(sum[j], part_sum[i][j]);
    }
  }
  const Finish finish = ending.of(running.largest, running.total);
  if (first < head_dim) {
    T* const out = static_cast<T*>(plan.call.output) + output_row(plan, item, query) + first;
#pragma unroll
    for (int j = 0; j < Team::kEach; ++j) out[j] = from_float<T>(sum[j] * finish.factor);
  }
  if (warp % Team::kWarps == 0 && lane == 0) store_lse(plan, item, query, finish.lse);
}

#endif

// blockIdx.x: an item, blockIdx.y: which share of its rows.
template <typename T, int kDim>
__global__ void __launch_bounds__(32 * kMergeWarps, 3)
    few_merge_kernel(const __grid_constant__ Plan plan) {
#if CUDAOPS_HAS_MMA
  let_next_kernel_start();
  fetch_parameters(plan);
  const int batch = static_cast<int>(blockIdx.x) / plan.per_sequence;
  const int index = static_cast<int>(blockIdx.x) - batch * plan.per_sequence;
  const Item item = item_of(plan, batch, index, plan.most_keys);
  const int column = index / plan.side_by_side, place = index - column * plan.side_by_side;
  const int first_slot =
      (batch * plan.columns + column) * plan.parts_of_item * plan.side_by_side + place;
  const int rows = few_rows_at_once(plan.parts_of_item, kDim), first = blockIdx.y * rows;
  const int num_rows = min(rows, min(kRows, plan.num_rows - item.first_row) - first);
  if (num_rows <= 0) {
    wait_for_kernels_before();
    return;
  }
  if (has_few_parts(plan.parts_of_item)) {
    merge_few_rows<T, RowTeam<kDim, 1>>(plan, item, first_slot, first, num_rows);
  } else {
    merge_few_rows<T, RowTeam<kDim, kDim / 32>>(plan, item, first_slot, first, num_rows);
  }
#endif
}

#endif

}  // namespace decode
}  // namespace cudaops_kernels
