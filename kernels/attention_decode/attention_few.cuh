// SPDX-License-Identifier: Apache-2.0
// attention of few queries (attention_few.h) by what attention_decode.cuh is made of. Sequences
// have one length, and neither table nor lengths in memory.
//
// Parts  Each item is cut by itself, after a number of units that the length decides: in any batch
//        the same. A block has as many parts of an item, one after the other, as leave each place
//        on the multiprocessors a block; it loads the next part while it ends one.
// Merge  A block with all parts of an item adds their sums, and writes the result; else the second
//        kernel does, in the same order by the same instructions.
#pragma once

#include "attention_decode.cuh"

namespace cudaops_kernels {
namespace decode {

#if !CUDAOPS_HIP

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

#endif

}  // namespace decode
}  // namespace cudaops_kernels
