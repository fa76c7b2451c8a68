// SPDX-License-Identifier: Apache-2.0
// How attention_decode's work is cut (attention_decode.cuh says why): what a block is to do, and
// what of a result is the same for all kernels.
#pragma once

#include "../common/activations.h"
#include "../common/divider.cuh"
#include "../common/mma.cuh"
#include "attention_decode.h"

namespace cudaops_kernels {
namespace decode {

constexpr int kRows = 16;
constexpr int kTile = 16;  // keys of a warp at a time
constexpr int kMostSideBySide = 16;
constexpr int kMergeWarps = 8;
constexpr float kLog2e = 1.4426950408889634f;
constexpr float kLn2 = 0.6931471805599453f;

struct Float8 {
  uint8_t bits;
};

// An item's queries and keys.
struct Item {
  int batch, kv_head;
  int first_row;  // of num_rows: the queries of a head's group, those of a token together
  int length, first_unit, num_units;
};

// Where a cache's keys lie, in bytes: of 32 bits, so that an address takes two multiplications.
struct CacheBytes {
  uint32_t block, token;
};

// In elements.
struct OutputStrides {
  int64_t batch, token, head;
};

// How the call is cut; the same on host and device, but for what lengths say.
struct Plan {
  AttentionDecode call;
  int group;         // query heads of a head of the cache
  int num_rows;      // group * q_length
  int row_tiles;     // items of a sequence's head
  int per_sequence;  // items of a sequence
  int side_by_side;  // items whose units are one: a divisor of per_sequence
  int columns;       // per_sequence / side_by_side
  int page_shift;    // page_size = 1 << page_shift; -1 where it is no power of two
  int unit_shift;    // a unit is 1 << unit_shift keys: a tile of each of a block's warps
  int stages;        // tiles of a warp
  int most_keys;     // that a row of the table has room for; a sequence's length without lengths
  CacheBytes k_bytes, v_bytes;
  int window_right;  // keys behind a query's position that it sees; -1: all
  OutputStrides output_strides;
  int parts;           // of all units; blocks of the grid: parts * side_by_side
  int parts_of_item;   // where each item is cut by itself; 0: all units, one behind the other, are
  int units_of_part;   // of attention's few queries: after so many an item is cut
  int parts_of_block;  // there: so many, one after the other
  int groups;          // there: blocks of an item
  bool is_in_cluster;  // an item's parts are equal, and their blocks a cluster, which adds them
  int slots_of_block;  // sums that a block may leave: of parts of an item
  int slot_rows;       // rows of a slot
  int slot_stride;     // from an item's part to the next one
  float scale_log2;    // scale * log2(e)
  float per_softcap;   // ln(2) / softcap
  float* sums;         // for a slot: [slot_rows][head_dim]
  float* states;       // for a slot: largest, total [slot_rows]
  bool merge_items;    // what a block of the second kernel has: an item, or what a part needs
  detail::Divider by_group{1}, by_row_tiles{1}, by_parts{1}, by_parts_of_item{1}, by_groups{1};
};

// kPastCache: of the first level.
template <bool kPastCache = false>
__device__ __forceinline__ int length_of(const Plan& plan, int batch) {
  const int32_t* const length = plan.call.lengths + batch;
#if CUDAOPS_HAS_MMA
  if (kPastCache) return min(max(__ldcg(length), 0), plan.most_keys);
#endif
  return min(max(*length, 0), plan.most_keys);
}

__device__ __forceinline__ int page_of(const Plan& plan, int token) {
  return plan.page_shift >= 0 ? token >> plan.page_shift
                              : token / static_cast<int>(plan.call.page_size);
}

// The block with a page of a sequence, by the table.
template <bool kPastCache = false>
__device__ __forceinline__ int block_of(const Plan& plan, int batch, int page) {
  const int32_t* const block = plan.call.block_table + batch * plan.call.block_table_stride + page;
#if CUDAOPS_HAS_MMA
  if (kPastCache) return __ldcg(block);
#endif
  return *block;
}
// A head's first key in block 0, or of the sequence where its keys are one page.
template <typename Cache, bool kIsPaged>
__device__ __forceinline__ const Cache* first_of(const Plan& plan, const PagedCache& cache,
                                                 int batch, int kv_head) {
  const int64_t first = kIsPaged ? 0 : batch * cache.block_stride;
  return static_cast<const Cache*>(cache.data) + first + kv_head * cache.head_stride;
}

// The first unit with a key that one of the sequence's queries sees.
CUDAOPS_HOST_DEVICE inline int first_unit_of(const Plan& plan, int length) {
  if (plan.call.window_left < 0) return 0;
  const int64_t first = length - plan.call.q_length - plan.call.window_left;
  return first > 0 ? static_cast<int>(first) >> plan.unit_shift : 0;
}

// One where there are none: the result is written all the same.
CUDAOPS_HOST_DEVICE inline int units_of(const Plan& plan, int length) {
  const int64_t end = (int64_t{length} + (1 << plan.unit_shift) - 1) >> plan.unit_shift;
  const int count = static_cast<int>(end) - first_unit_of(plan, length);
  return count > 0 ? count : 1;
}

__device__ __forceinline__ Item item_of(const Plan& plan, int batch, int index, int length) {
  Item item;
  item.batch = batch;
  item.kv_head = plan.by_row_tiles.divide(&index);
  item.first_row = index * kRows;
  item.length = length;
  item.first_unit = first_unit_of(plan, item.length);
  item.num_units = units_of(plan, item.length);
  return item;
}

// A block's slot for a part of an item; where it may leave two, the second one is that of the item
// that begins in its part of all units.
__device__ __forceinline__ int slot_of_block(const Plan& plan, int block, bool is_first_part) {
  return plan.slots_of_block * block + (is_first_part ? plan.slots_of_block - 1 : 0);
}

// The parts of an item, one behind the other, and where their sums lie.
struct Parts {
  const Plan& plan;
  int first, count;
  int first_slot;  // but for that of part 0, where a block may leave two

  // `begin`: the item's first unit of all.
  __device__ Parts(const Plan& plan, const Item& item, int begin, int per_part, int aside)
      : plan(plan) {
    first = begin / per_part;
    count = (begin + item.num_units - 1) / per_part - first + 1;
    first_slot = slot_of_block(plan, first * plan.side_by_side + aside, false);
  }
  __device__ int slot_of(int part) const {
    return first_slot + part * plan.slot_stride + (part == 0 ? plan.slots_of_block - 1 : 0);
  }
};

// A query of an item: its head, token and position, and the last key that it may see.
struct Query {
  int head, token, position, last;
  bool is_there;
};
__device__ __forceinline__ int last_key_of(const Plan& plan, int length, int position) {
  return plan.window_right < 0 ? length - 1 : min(position + plan.window_right, length - 1);
}
__device__ __forceinline__ Query query_of(const Plan& plan, const Item& item, int row) {
  const int index = item.first_row + row;
  Query query;
  query.is_there = index < plan.num_rows;
  query.token = static_cast<int>(plan.by_group.quotient(static_cast<uint32_t>(index)));
  query.head = item.kv_head * plan.group + index - query.token * plan.group;
  query.position = item.length - static_cast<int>(plan.call.q_length) + query.token;
  query.last = last_key_of(plan, item.length, query.position);
  return query;
}

// A row's result, or one element of it: of sums relative to 2^largest.
struct Finish {
  float factor, lse;
};
// What a row's result needs beside its sums.
class Ending {
 public:
  __device__ Ending(const Plan& plan, const Item& item, const Query& query) {
    has_sink_ = plan.call.sinks != nullptr && query.is_there;
    sink_ = has_sink_ ? plan.call.sinks[query.head] * kLog2e : -INFINITY;
    const PagedCache& v = plan.call.v;
    v_scale_ = v.scale == nullptr ? 1.0f : v.scale[item.kv_head * v.scale_stride];
  }
  __device__ Finish of(float largest, float total) const {
    float kept = 1.0f;
    const float with_sink = fmaxf(largest, sink_);
    if (has_sink_ && with_sink > -INFINITY) {
      kept = exp2f(largest - with_sink);
      total = total * kept + exp2f(sink_ - with_sink);
      largest = with_sink;
    }
    return {total == 0 ? 0.0f : kept * v_scale_ / total,
            total == 0 ? -INFINITY : (largest + log2f(total)) * kLn2};
  }

 private:
  bool has_sink_;
  float sink_, v_scale_;
};

__device__ __forceinline__ int64_t output_row(const Plan& plan, const Item& item,
                                              const Query& query) {
  const OutputStrides& strides = plan.output_strides;
  return item.batch * strides.batch + query.token * strides.token + query.head * strides.head;
}
__device__ __forceinline__ void store_lse(const Plan& plan, const Item& item, const Query& query,
                                          float lse) {
  if (plan.call.lse == nullptr) return;
  plan.call
      .lse[(item.batch * plan.call.num_heads + query.head) * plan.call.q_length + query.token] =
      lse;
}

#if CUDAOPS_HAS_MMA

// Units begin up to end, of all, and the item with the first of them: its sequence, that one's
// length, its column there and its own first unit of all.
struct Part {
  int begin, end;
  int batch, length, column, first;
  __device__ bool is_empty() const { return begin >= end; }
};
// Its first unit, of the sequence's.
__device__ __forceinline__ int unit_of(const Plan& plan, const Part& part) {
  return first_unit_of(plan, part.length) + part.begin - part.first;
}

// How all units are cut, and where the sequences' begin, as a warp finds it. Each lane has a
// sequence, of more than 32 four neighbouring ones, whose lengths are read at once; those of more
// than 128 are read in turns, and again when they are looked for.
class Schedule {
  static constexpr int kEach = 4, kAtOnce = 32 * kEach;

 public:
  // Whether it holds all lengths that a part depends on: those that a kernel before may still
  // write give a sequence and a column that there are then.
  __device__ static bool knows_all(const Plan& plan) {
    return plan.call.num_batches <= kAtOnce || plan.parts_of_item > 0;
  }

  __device__ explicit Schedule(const Plan& plan)
      : plan_(plan), lane_(static_cast<int>(threadIdx.x % 32)) {}

  // kPastCache: of the first level, in which lengths would stay that may still change.
  template <bool kPastCache>
  __device__ void read_lengths() {
    if (plan_.parts_of_item > 0) return;
    if (has_several()) {
#pragma unroll
      for (int i = 0; i < kEach; ++i) lengths_[i] = length_at<kPastCache>(lane_ * kEach + i);
    } else {
      lengths_[0] = length_at<kPastCache>(lane_);
    }
  }
  // Reads them again, of up to 32 sequences: whether they are others than those that the part was
  // found by.
  __device__ bool has_changed(const Part& part) {
    if (plan_.parts_of_item > 0) return length_of<true>(plan_, part.batch) != part.length;
    const int before = lengths_[0];
    lengths_[0] = length_at<true>(lane_);
    return __any_sync(~0u, lengths_[0] != before);
  }

  // What follows is of the lengths read last.
  __device__ void cut() {
    if (plan_.parts_of_item > 0) return;
    units_[0] = own_ = units_at(lengths_[0]);
    if (has_several()) {
#pragma unroll
      for (int i = 1; i < kEach; ++i) own_ += units_[i] = units_at(lengths_[i]);
    }
    upto_ = sum_upto(own_);
    total_ = __shfl_sync(~0u, upto_, 31);
    for (int first = kAtOnce; first < plan_.call.num_batches; first += 32) {
      total_ += static_cast<int>(
          __reduce_add_sync(~0u, static_cast<unsigned int>(units_at(length_at(first + lane_)))));
    }
    per_part_ = static_cast<int>(plan_.by_parts.quotient(static_cast<uint32_t>(total_ - 1))) + 1;
    if (per_part_ >= kLongPart) round_part();
  }

  __device__ int per_part() const { return per_part_; }
  __device__ int length(int batch) const {
    if (has_several() || plan_.parts_of_item > 0) return length_of(plan_, batch);
    return __shfl_sync(~0u, lengths_[0], batch);
  }
  // The first unit of a sequence, of up to 32.
  __device__ int begin_of(int batch) const { return __shfl_sync(~0u, upto_ - own_, batch); }

  __device__ Part part(int index) const {
    Part part;
    if (plan_.parts_of_item > 0) {
      int in_item = index;
      const int column = plan_.by_parts_of_item.divide(&in_item);
      part.batch = column / plan_.columns;
      part.length = length_of<true>(plan_, part.batch);
      part.column = column - part.batch * plan_.columns;
      const int units = units_of(plan_, part.length);
      const int each = plan_.by_parts_of_item.quotient(units - 1) + 1;
      part.first = column * units;
      part.begin = part.first + in_item * each;
      part.end = min(part.begin + each, part.first + units);
      return part;
    }
    part.begin = index * per_part_;
    part.end = min(part.begin + per_part_, total_);
    if (part.is_empty()) return part;
    find(&part);
    part.column = 0;
    if (plan_.columns > 1) {
      const int units = units_of(plan_, part.length);
      part.column = (part.begin - part.first) / units;
      part.first += part.column * units;
    }
    return part;
  }

 private:
  // Of items that have as many units each, a part is one, or one of its equal pieces, where that
  // makes it longer by a sixteenth at most: to end one item and begin the next takes a block
  // longer. Of short parts that is less than finding it out takes.
  static constexpr int kLongPart = 32;
  __device__ void round_part() {
    const int units = __shfl_sync(~0u, units_[0], 0), of_item = units / plan_.columns;
    if (per_part_ >= of_item) return;
    bool are_alike = is_alike(units_[0], units);
    if (has_several()) {
#pragma unroll
      for (int i = 1; i < kEach; ++i) are_alike = are_alike && is_alike(units_[i], units);
    }
    for (int batch = kAtOnce + lane_; batch < plan_.call.num_batches; batch += 32) {
      are_alike = are_alike && is_alike(units_at(length_at(batch)), units);
    }
    if (!__all_sync(~0u, are_alike)) return;
    const int pieces = of_item / per_part_, piece = (of_item + pieces - 1) / pieces;
    if (16 * (piece - per_part_) <= per_part_) per_part_ = piece;
  }
  __device__ static bool is_alike(int units, int others) { return units == 0 || units == others; }

  // The sequence with a part's first unit, its length, and its first unit of all.
  __device__ void find(Part* part) const {
    if (!has_several()) {
      is_in_lane(part, upto_, lane_, lengths_[0], upto_ - own_);
      return;
    }
    int batch = lane_ * kEach, length = lengths_[0], begin = upto_ - own_;
#pragma unroll
    for (int i = 1; i < kEach; ++i) {
      const int next = begin + units_[i - 1];
      if (part->begin >= next && batch % kEach == i - 1) {
        ++batch;
        length = lengths_[i];
        begin = next;
      }
    }
    if (is_in_lane(part, upto_, batch, length, begin)) return;
    int before = __shfl_sync(~0u, upto_, 31);
    for (batch = kAtOnce + lane_;; batch += 32) {
      length = length_at(batch);
      const int own = units_at(length), upto = sum_upto(own);
      if (is_in_lane(part, before + upto, batch, length, before + upto - own)) return;
      before += __shfl_sync(~0u, upto, 31);
    }
  }
  // Whether a lane's units, which end there, have the part's first one; its sequence then.
  __device__ __forceinline__ static bool is_in_lane(Part* part, int end, int batch, int length,
                                                    int begin) {
    const unsigned int behind = __ballot_sync(~0u, part->begin < end);
    if (behind == 0) return false;
    const int lane = __ffs(static_cast<int>(behind)) - 1;
    part->batch = __shfl_sync(~0u, batch, lane);
    part->length = __shfl_sync(~0u, length, lane);
    part->first = __shfl_sync(~0u, begin, lane);
    return true;
  }

  __device__ bool has_several() const { return plan_.call.num_batches > 32; }
  // -1: there is no such sequence.
  template <bool kPastCache = false>
  __device__ int length_at(int batch) const {
    return batch < plan_.call.num_batches ? length_of<kPastCache>(plan_, batch) : -1;
  }
  __device__ int units_at(int length) const {
    return length < 0 ? 0 : units_of(plan_, length) * plan_.columns;
  }
  // Of the lanes up to this one.
  __device__ int sum_upto(int sum) const {
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(~0u, sum, step);
      if (lane_ >= step) sum += other;
    }
    return sum;
  }

  const Plan& plan_;
  int lane_, lengths_[kEach], units_[kEach], own_, upto_, total_, per_part_ = 0;
};

#endif

}  // namespace decode
}  // namespace cudaops_kernels
