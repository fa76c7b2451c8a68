// SPDX-License-Identifier: Apache-2.0
// How the sums of an item's parts are added, and the second kernel of attention_decode.cuh, which
// does that alone.
#pragma once

#include "../common/activations.h"
#include "../common/cluster.cuh"
#include "../common/device_types.cuh"
#include "../common/hopper.cuh"
#include "attention_decode_plan.cuh"

namespace cudaops_kernels {
namespace decode {

#if !CUDAOPS_HIP

// How a block of the second kernel is used: a row's columns are divided among so many warps of it,
// its parts are added one after the other, those of a chunk in flight at a time.
template <int kDim, int kWarpsOfRow>
struct RowTeam {
  static constexpr int kWarps = kWarpsOfRow, kRows = kMergeWarps / kWarpsOfRow;
  static constexpr int kEach = kDim / 32 / kWarpsOfRow;  // neighbouring elements of a lane
  static constexpr int kPartsAtOnce = kWarpsOfRow == 1 ? 4 : 32;
};
// Few parts of many rows at once, or many of few.
CUDAOPS_HOST_DEVICE constexpr bool has_few_parts(int parts) { return parts <= 4; }
CUDAOPS_HOST_DEVICE constexpr int rows_at_once(int parts, int dim) {
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

// A lane's neighbouring elements of a row.
template <int kDim>
struct alignas(kDim < 128 ? 8 : 16) LaneElements {
  static constexpr int kCount = kDim / 32;
  float at[kCount];
};

// A kernel's parameters come from memory when they are read for the first time: all of them before
// there is something to wait for.
__device__ __forceinline__ void fetch_parameters(const Plan& plan) {
  constexpr int kStep = 64, kLast = sizeof(Plan) - 4;
  const char* const from = reinterpret_cast<const char*>(&plan);
#pragma unroll
  for (int at = 0; at < kLast + kStep; at += kStep) {
    asm volatile("" ::"r"(*reinterpret_cast<const int*>(from + (at < kLast ? at : kLast))));
  }
}

#if CUDAOPS_HAS_MMA

// Past the first-level cache: each is read once.
template <int kCount>
__device__ __forceinline__ void load_sums(const float* from, float (&to)[kCount]) {
  if constexpr (kCount == 1) {
    to[0] = __ldcg(from);
  } else if constexpr (kCount == 2) {
    const float2 pair = __ldcg(reinterpret_cast<const float2*>(from));
    to[0] = pair.x;
    to[1] = pair.y;
  } else {
    static_assert(kCount % 4 == 0, "");
#pragma unroll
    for (int i = 0; i < kCount; i += 4) {
      const float4 four = __ldcg(reinterpret_cast<const float4*>(from + i));
      to[i] = four.x;
      to[i + 1] = four.y;
      to[i + 2] = four.z;
      to[i + 3] = four.w;
    }
  }
}

// The results of up to Team::kRows rows of an item.
template <typename T, typename Team>
__device__ __forceinline__ void merge_rows(const Plan& plan, const Item& item, const Parts& parts,
                                           int first_row, int num_rows) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int head_dim = static_cast<int>(plan.call.head_dim);
  const int first = (warp % Team::kWarps * 32 + lane) * Team::kEach;
  const bool is_busy = warp / Team::kWarps < num_rows;
  const int row = first_row + (is_busy ? warp / Team::kWarps : 0);
  const Query query = query_of(plan, item, row);
  const Ending ending(plan, item, query);
  const auto row_of = [&](int part) { return int64_t{parts.slot_of(part)} * plan.slot_rows + row; };
  wait_for_kernels_before();
  if (!is_busy) return;
  Running running;
  float sum[Team::kEach] = {};
#pragma unroll 1
  for (int begin = 0; begin < parts.count; begin += Team::kPartsAtOnce) {
    const int count = min(Team::kPartsAtOnce, parts.count - begin);
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

// Those of rows first to end.
template <typename T, typename Team>
__device__ __forceinline__ void merge_rows_upto(const Plan& plan, const Item& item,
                                                const Parts& parts, int first, int end) {
#pragma unroll 1
  for (int row = first; row < end; row += Team::kRows) {
    merge_rows<T, Team>(plan, item, parts, row, min(Team::kRows, end - row));
  }
}

#endif

#if CUDAOPS_HAS_HOPPER

// A number of the shared memory of block `rank`, where `own` has it in this block's.
template <typename Value>
__device__ __forceinline__ Value load_in_cluster(const Value* own, unsigned int rank) {
  uint32_t remote;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(shared_address(own)), "r"(rank));
  Value value;
  if constexpr (sizeof(Value) == 8) {
    asm volatile("ld.shared::cluster.v2.f32 {%0, %1}, [%2];"
                 : "=f"(value.x), "=f"(value.y)
                 : "r"(remote)
                 : "memory");
  } else {
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(remote) : "memory");
  }
  return value;
}

// An item's results, by all threads of the cluster whose blocks have its parts' sums and states:
// each has an element of a row at a time. A part without keys has a total of 0, and any sums.
template <typename T, int kDim>
__device__ __forceinline__ void merge_in_cluster(const Plan& plan, const Item& item,
                                                 const float* sums, const float2* states) {
  arrive_at_cluster_barrier();
  wait_at_cluster_barrier();
  const int num_rows = min(kRows, plan.num_rows - item.first_row);
  const int threads = static_cast<int>(blockDim.x);
  const int first = static_cast<int>(cluster_rank()) * threads + static_cast<int>(threadIdx.x);
  const int head_dim = static_cast<int>(plan.call.head_dim);
#pragma unroll 1
  for (int at = first; at < num_rows * head_dim; at += kMaxClusterSize * threads) {
    const int row = at / head_dim, element = at - row * head_dim;
    float2 state[kMaxClusterSize];
    float sum[kMaxClusterSize];
#pragma unroll
    for (int i = 0; i < kMaxClusterSize; ++i) {
      state[i] = load_in_cluster(states + row, i);
      sum[i] = load_in_cluster(sums + row * kDim + element, i);
    }
    const Query query = query_of(plan, item, row);
    const Ending ending(plan, item, query);
    float largest = -INFINITY, total = 0, all = 0;
#pragma unroll
    for (int i = 0; i < kMaxClusterSize; ++i) largest = fmaxf(largest, state[i].x);
    const float base = largest == -INFINITY ? 0.0f : largest;
#pragma unroll
    for (int i = 0; i < kMaxClusterSize; ++i) {
      const float weight = detail::exp2_of(state[i].x - base);
      total += weight * state[i].y;
      all += state[i].y == 0 ? 0.0f : weight * sum[i];
    }
    const Finish finish = ending.of(largest, total);
    T* const out = static_cast<T*>(plan.call.output) + output_row(plan, item, query);
    out[element] = from_float<T>(all * finish.factor);
    if (element == 0) store_lse(plan, item, query, finish.lse);
  }
  // No block ends while others read its memory.
  arrive_at_cluster_barrier();
  wait_at_cluster_barrier();
}

#endif

// A block has a part as the first kernel's has: the parts that begin within an item share its rows.
// Where parts are single units those blocks would be many for little work, and slower as measured:
// there blockIdx.x is an item, and blockIdx.y which share of its rows.
template <typename T, int kDim>
__global__ void __launch_bounds__(32 * kMergeWarps, 3)
    merge_kernel(const __grid_constant__ Plan plan) {
#if CUDAOPS_HAS_MMA
  let_next_kernel_start();
  fetch_parameters(plan);
  const Schedule<> schedule(plan);
  const int index = static_cast<int>(blockIdx.x);
  int part = 0, place, batch, column, first;
  if (plan.merge_items) {
    batch = index / plan.per_sequence;
    column = (index - batch * plan.per_sequence) / plan.side_by_side;
    place = index % plan.side_by_side;
    first = schedule.begin_of(batch) + column * units_of(plan, schedule.length(batch));
  } else {
    part = index / plan.side_by_side;
    place = index % plan.side_by_side;
    const Schedule<>::Part own = schedule.part(part);
    if (own.is_empty() || own.first == own.begin) {
      // Part 0 is one of these: this kernel never ends before the first one.
      if (part == 0) wait_for_kernels_before();
      return;
    }
    batch = own.batch;
    column = own.column;
    first = own.first;
  }
  const Item item =
      item_of(plan, batch, column * plan.side_by_side + place, length_of(plan, batch));
  const Parts parts(plan, item, first, schedule.per_part(), place);
  if (parts.count == 1) {
    wait_for_kernels_before();
    return;
  }
  const int num_rows = min(kRows, plan.num_rows - item.first_row);
  const int turn = plan.merge_items ? static_cast<int>(blockIdx.y) : part - parts.first - 1;
  const int turns = plan.merge_items ? static_cast<int>(gridDim.y) : parts.count - 1;
  // As many rows as have their parts in flight at a time: more blocks of this kernel than it takes
  // leave less room for the next one.
  const int rows_of_block = max((num_rows + turns - 1) / turns, rows_at_once(parts.count, kDim));
  const int first_row = turn * rows_of_block;
  const int end = min(num_rows, first_row + rows_of_block);
  if (has_few_parts(parts.count)) {
    merge_rows_upto<T, RowTeam<kDim, 1>>(plan, item, parts, first_row, end);
  } else {
    merge_rows_upto<T, RowTeam<kDim, kDim / 32>>(plan, item, parts, first_row, end);
  }
#endif
}

#endif

}  // namespace decode
}  // namespace cudaops_kernels
