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

constexpr int kPartsAtOnce = 4;  // of a row, that a warp has in flight

// Rows that a block has all parts of in flight; 0 where there are more parts.
CUDAOPS_HOST_DEVICE constexpr int rows_at_once(int parts) {
  const int rows = kMergeWarps * kPartsAtOnce / parts;
  return rows < kMergeWarps ? rows : kMergeWarps;
}

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

template <int kDim>
__device__ __forceinline__ LaneElements<kDim> load_elements(const float* from) {
  LaneElements<kDim> elements;
  load_sums(from, elements.at);
  return elements;
}

#if CUDAOPS_HAS_MMA

// The results of up to kMergeWarps rows of an item, by all warps of a block: a row has as many as
// there are, a team; each adds the sums of every so-manieth part, and then the warps' are added.
template <typename T, int kDim>
__device__ __forceinline__ void merge_rows(const Plan& plan, const Item& item, const Parts& parts,
                                           int first_row, int num_rows,
                                           LaneElements<kDim> (&sums_of)[kMergeWarps][32]) {
  using Elements = LaneElements<kDim>;
  constexpr int kEach = Elements::kCount;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int head_dim = static_cast<int>(plan.call.head_dim);
  const int team = kMergeWarps / num_rows;  // warps of a row
  const int row = first_row + warp / team;
  const int place = warp % team;
  const bool is_busy = warp / team < num_rows;
  const Query query = query_of(plan, item, is_busy ? row : 0);
  const Ending ending(plan, item, query);
  const int count = parts.count;
  const auto row_of = [&](int part) { return parts.slot_of(part) * plan.slot_rows + row; };
  const float* const states = plan.states;
  const float* const sums = plan.sums;
  wait_for_kernels_before();
  Elements sum{};
  Finish finish{};
  if (is_busy) {
    const auto load = [&](int some, int end, Elements(&part_sum)[kPartsAtOnce]) {
#pragma unroll
      for (int i = 0; i < kPartsAtOnce; ++i) {
        const int part = some + i * team;
        part_sum[i] = {};
        if (part < end && lane * kEach < head_dim) {
          part_sum[i] = load_elements<kDim>(sums + int64_t{row_of(part)} * head_dim + lane * kEach);
        }
      }
    };
    // What the first 32 parts have is in flight at once.
    Elements part_sum[kPartsAtOnce];
    load(place, min(count, 32), part_sum);
    float largest_here = -INFINITY, total_here = 0;
    const auto load_state = [&](int part) {
      largest_here = -INFINITY;
      total_here = 0;
      if (part < count) {
        const float2 state = __ldcg(reinterpret_cast<const float2*>(states + 2 * row_of(part)));
        largest_here = state.x;
        total_here = state.y;
      }
    };
    float largest = -INFINITY;
    for (int begin_here = 32; begin_here < count; begin_here += 32) {
      load_state(begin_here + lane);
      largest = fmaxf(largest, largest_here);
    }
    load_state(lane);
    largest = cudaops::warp_max(fmaxf(largest, largest_here));
    const float base = largest == -INFINITY ? 0.0f : largest;
    float total = 0;
#pragma unroll 1
    for (int begin_here = 0; begin_here < count; begin_here += 32) {
      if (begin_here != 0) load_state(begin_here + lane);
      const float weight = detail::exp2_of(largest_here - base);
      total += weight * total_here;
      const int end_here = min(count, begin_here + 32);
#pragma unroll 1
      for (int some = begin_here + place; some < end_here; some += kPartsAtOnce * team) {
        if (some != place) load(some, end_here, part_sum);
#pragma unroll
        for (int i = 0; i < kPartsAtOnce; ++i) {
          // Beyond the parts the weight is that of a lane, and the sum zero.
          const float part_weight = __shfl_sync(~0u, weight, (some + i * team) % 32);
#pragma unroll
          for (int j = 0; j < kEach; ++j) sum.at[j] += part_weight * part_sum[i].at[j];
        }
      }
    }
    finish = ending.of(largest, cudaops::warp_sum(total));
    sums_of[warp][lane] = sum;
  }
  __syncthreads();
  if (!is_busy) return;
  T* const out = static_cast<T*>(plan.call.output) + output_row(plan, item, query);
  for (int at = place * 32 + lane; at < head_dim; at += team * 32) {
    float all = 0;
#pragma unroll 4
    for (int i = 0; i < team; ++i) all += sums_of[warp - place + i][at / kEach].at[at % kEach];
    out[at] = from_float<T>(all * finish.factor);
  }
  if (place == 0 && lane == 0) store_lse(plan, item, query, finish.lse);
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

// Blocks on a multiprocessor: of more, threads have too few registers for the parts in flight.
constexpr int merge_blocks_of(int dim) { return dim > 128 ? 2 : dim > 64 ? 3 : 4; }

// A block has a part as the first kernel's has: the parts that begin within an item share its rows.
// Where parts are single units those blocks would be many for little work, and slower as measured:
// there blockIdx.x is an item, and blockIdx.y which share of its rows.
template <typename T, int kDim>
__global__ void __launch_bounds__(32 * kMergeWarps, merge_blocks_of(kDim))
    merge_kernel(const __grid_constant__ Plan plan) {
#if CUDAOPS_HAS_MMA
  __shared__ LaneElements<kDim> sums_of[kMergeWarps][32];
  let_next_kernel_start();
  fetch_parameters(plan);
  Schedule schedule(plan);
  schedule.read_lengths<false>();
  schedule.cut();
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
    const Part own = schedule.part(part);
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
  const int rows_of_block = max((num_rows + turns - 1) / turns, rows_at_once(parts.count));
  const int first_row = turn * rows_of_block;
  const int end = min(num_rows, first_row + rows_of_block);
  for (int row = first_row; row < end; row += kMergeWarps) {
    merge_rows<T, kDim>(plan, item, parts, row, min(kMergeWarps, end - row), sums_of);
    __syncthreads();
  }
#endif
}

#endif

}  // namespace decode
}  // namespace cudaops_kernels
