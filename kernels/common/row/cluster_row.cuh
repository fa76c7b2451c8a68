// SPDX-License-Identifier: Apache-2.0
// A row in the registers of a cluster of blocks (sm_90 and later), kVectors a thread, of which the
// last kStashed are kept in shared memory: more bytes are in flight while other threads wait for
// their cluster. What it offers is said in row.h.
#pragma once

#include <type_traits>

#include "peeled_row.cuh"

namespace cudaops_kernels {

namespace detail {

struct TileStash {
  Packed* stash;
};

}  // namespace detail

// Slots up to kInRegisters, then kStashed in shared memory, and in registers a peeled one.
template <typename T, int kInRegisters, int kStashed, bool kWhole>
class StashedTile : public detail::TileVectors<kInRegisters + (kWhole ? 0 : 1)>,
                    public detail::TileStash,
                    public detail::TileSource<T>,
                    public detail::Keeps<StashedTile<T, kInRegisters, kStashed, kWhole>, T> {
 public:
  __device__ __forceinline__ static constexpr bool is_stashed(int slot) {
    return slot >= kInRegisters && slot < kInRegisters + kStashed;
  }
  // Each thread reads only what it has written.
  __device__ __forceinline__ Packed* stashed(int slot) const {
    return this->stash + (slot - kInRegisters) * static_cast<int>(blockDim.x);
  }
  __device__ __forceinline__ Packed get(int slot) const {
    if (is_stashed(slot)) {
#if CUDAOPS_HAS_HOPPER
      wait_for_copies();  // here, so that an op can do something else meanwhile
#endif
      return *stashed(slot);
    }
    return this->vectors[slot < kInRegisters ? slot : slot - kStashed];
  }
  __device__ __forceinline__ void set(int slot, const Packed& vector) {
    if (is_stashed(slot)) {
      *stashed(slot) = vector;
    } else {
      this->vectors[slot < kInRegisters ? slot : slot - kStashed] = vector;
    }
  }
};

template <int kVectors, int kStashed, bool kWhole>
struct ClusterRowTraits
    : std::conditional_t<kWhole, RowTraits<kVectors, true>, PeeledRowTraits<kVectors>> {
  static constexpr int kComputed = kStashed == 0 ? kVectors + (kWhole ? 0 : 1) : 0;
  static constexpr bool kMaySplitWarps = false;
  static constexpr bool kHasManyWarps = true;
  static constexpr bool kKeepsAddresses = false;  // no registers to spare
  // Blocks may use each other's shared memory when all have arrived; each arrival has its wait.
  __device__ __forceinline__ static void enter() {
#if CUDAOPS_HAS_HOPPER
    arrive_at_cluster_barrier();
#endif
  }
};

namespace detail {

template <typename Self, typename T, int kVectors, int kStashed, bool kWhole>
using ClusterRowBase =
    std::conditional_t<kWhole,
                       RowBase<Self, ClusterRowTraits<kVectors, kStashed, true>, T,
                               StashedTile<T, kVectors - kStashed, kStashed, true>>,
                       PeeledRow<Self, ClusterRowTraits<kVectors, kStashed, false>, T,
                                 StashedTile<T, kVectors - kStashed, kStashed, false>>>;

}  // namespace detail

// kIsDouble: each block adds up in the order of two blocks with half of its threads each.
template <typename T, int kVectors, int kStashed, bool kWhole, bool kIsDouble = false>
class ClusterRow
    : public detail::ClusterRowBase<ClusterRow<T, kVectors, kStashed, kWhole, kIsDouble>, T,
                                    kVectors, kStashed, kWhole> {
  using Base = detail::ClusterRowBase<ClusterRow, T, kVectors, kStashed, kWhole>;

 public:
  using typename Base::Tile;

  // `stash`: kStashed vectors for each of the block's threads and each tile.
  __device__ __forceinline__ ClusterRow(int64_t index, int64_t num_rows, int64_t width,
                                        const void* anchor, RowScratch* scratch, Packed* stash)
      : Base(index, num_rows, width, anchor, scratch), stash_(stash) {}

  __device__ __forceinline__ int thread() const {
#if CUDAOPS_HAS_HOPPER
    return static_cast<int>(cluster_rank() * blockDim.x) + this->thread_;
#else
    return this->thread_;
#endif
  }
  __device__ __forceinline__ int num_threads() const {
#if CUDAOPS_HAS_HOPPER
    return static_cast<int>(cluster_size() * blockDim.x);
#else
    return static_cast<int>(blockDim.x);
#endif
  }

  __device__ __forceinline__ Tile tile_at(const T* data, int64_t stride) const {
    Tile tile = Base::tile_at(data, stride);
    if constexpr (kStashed > 0) {
      tile.stash = stash_ + threadIdx.x;
      stash_ += kStashed * static_cast<int>(blockDim.x);
    }
    return tile;
  }

  template <int kCount>
  __device__ __forceinline__ void load_tiles(Tile (&tiles)[kCount]) const {
    this->load_tiles_by(tiles, [](Tile& tile, const auto& place, const T* data) {
#if CUDAOPS_HAS_HOPPER
      if (Tile::is_stashed(place.slot)) {
        begin_copy(shared_address(tile.stashed(place.slot)), data);
        return;
      }
#endif
      tile.set(place.slot, load_ordered(data));
    });
  }

  template <int kEach, typename Value, typename Op>
  __device__ __forceinline__ Value reduce_over_block(const Value& value, const Value& identity,
                                                     const Op& op) {
    if constexpr (!kIsDouble) {
      return Base::template reduce_over_block<kEach>(value, identity, op);
    } else {
      static_assert(kEach == 1, "a thread of a cluster's row stands for itself");
      const Value half =
          detail::reduce_over_halves(this->scratch_->warps[this->buffer_], value, identity, op);
      const Value all = reduce_over_blocks<2>(half, identity, op);
      this->buffer_ ^= 1;
      return all;
    }
  }
  template <int kEach = 1, typename Value, typename Op>
  __device__ __forceinline__ Value reduce_over_blocks(const Value& value, const Value& identity,
                                                      const Op& op) {
#if CUDAOPS_HAS_HOPPER
    wait_for_others();
    return reduce_over_cluster<kEach>(this->scratch_->blocks[this->buffer_], value, identity, op);
#else
    return value;
#endif
  }

  // At the end, for an op that has not called for a reduction.
  __device__ __forceinline__ void leave_cluster() {
#if CUDAOPS_HAS_HOPPER
    wait_for_others();
#endif
  }

 private:
#if CUDAOPS_HAS_HOPPER
  __device__ __forceinline__ void wait_for_others() {
    if (!others_run_) wait_at_cluster_barrier();
    others_run_ = true;
  }
#endif

  mutable Packed* stash_;
  bool others_run_ = false;
};

}  // namespace cudaops_kernels
