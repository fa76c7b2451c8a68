// SPDX-License-Identifier: Apache-2.0
// Rows that start and end anywhere within a vector: head and tail are peeled. The row's first two
// and last two vectors are four threads' own, one more for each of them, with code of their own.
// The inner vectors are whole, and whatever lies around them belongs to the row: they need no look
// at its ends. The base of RaggedRow and of a ClusterRow that isn't whole.
#pragma once

#include <climits>

#include "row_base.cuh"

namespace cudaops_kernels {

// Of a row with kVectors inner vectors a thread.
template <int kVectors>
struct PeeledRowTraits : RowTraits<kVectors, false> {
  static constexpr int kKept = kVectors + 1;  // the last is the thread's peeled one, if it has one
  static constexpr int kComputed = kKept;
  static constexpr int kPeeledVectors = 2;
};

template <typename Self, typename Traits, typename T, typename TileType>
class PeeledRow : public RowBase<Self, Traits, T, TileType> {
  using Base = RowBase<Self, Traits, T, TileType>;

 public:
  using Base::kIsZeroPadded;
  using Base::kPeeledVectors;
  using Base::kSize;
  using Base::kSlots;
  using typename Base::Tile;
  template <bool kAll>
  using PlaceOf = typename Base::template PlaceOf<kAll>;

  __device__ __forceinline__ PeeledRow(int64_t index, int64_t num_rows, int64_t width,
                                       const void* anchor, RowScratch* scratch)
      : Base(index, num_rows, width, anchor, scratch) {
    if constexpr (Traits::kKeepsAddresses) peeled_vector_ = find_peeled_vector();
  }

  __device__ __forceinline__ bool owns(int64_t column) const {
    if (!exists_) return false;
    const int vector = static_cast<int>((column + shift_) / kSize);
    if (vector < kPeeledVectors || vector >= num_vectors_ - kPeeledVectors) {
      return vector == peeled_vector();
    }
    return (vector - kPeeledVectors) % self().num_threads() == self().thread();
  }

  template <typename Body>
  __device__ __forceinline__ void each_before(int end, const Body& body) const {
    // First where there are no registers to spare: less of it is kept meanwhile.
    if constexpr (!Traits::kKeepsAddresses) peeled_before(end, body);
    each_inner_before(end, body);
    if constexpr (Traits::kKeepsAddresses) peeled_before(end, body);
  }

  // The inner vectors have two others on either side, in whatever array.
  template <bool kAll>
  __device__ __forceinline__ Packed load_near_ends(const Tile& tile,
                                                   const PlaceOf<kAll>& place) const {
    const T* const data = tile.row + place.column;
    if constexpr (kAll) return is_aligned_to_16(data) ? load_ordered(data) : load_unaligned(data);
    return Base::load_near_ends(tile, place);
  }

  template <int kWhich, typename U, bool kAll>
  __device__ __forceinline__ Packed packed_columns(const U* columns, const PlaceOf<kAll>& place,
                                                   int first) const {
    constexpr int kPart = Vector<U>::kSize;
    if constexpr (kAll) {
      // The row's first vector has the same offset as all others.
      const char* const start = reinterpret_cast<const char*>(columns - shift_);
      const unsigned int offset =
          static_cast<unsigned int>(reinterpret_cast<uintptr_t>(start) % 16);
      const int vector = (place.column + shift_) / kSize * (kSize / kPart) + first / kPart;
      // rms_norm_quantize keeps the ALU busy with conversions: 124.7 us for 132.2 (32768 x 4097 of
      // bfloat16, by row), 153.2 for 159.3 (by groups of 128). H200, 2026-11-27.
      if constexpr (kIsZeroPadded) return load_halves<U>(start, offset, vector);
      const Packed* const aligned = reinterpret_cast<const Packed*>(start - offset) + vector;
      return funnel_shift<U>(load_readonly(aligned), load_readonly(aligned + 1), offset);
    } else if constexpr (kIsZeroPadded) {
      // Head and tail are in one warp: it would take both branches.
      const auto part = Base::template part_of<kPart>(place, first);
      return load_unaligned(columns + part.column, part.begin, part.end);
    } else {
      return Base::template packed_columns<kWhich>(columns, place, first);
    }
  }

 protected:
  using Base::exists_;
  using Base::num_vectors_;
  using Base::self;
  using Base::shift_;

  template <typename Body>
  __device__ __forceinline__ void each_inner_before(int end, const Body& body) const {
    if (end > num_vectors_ - kPeeledVectors) end = num_vectors_ - kPeeledVectors;
    // Of a row without inner vectors nothing may be read at a padding vector's place.
    if (kIsZeroPadded && end <= kPeeledVectors) return;
#pragma unroll
    for (int slot = 0; slot < kSlots; ++slot) {
      const int vector = this->vector_at(slot);
      if constexpr (kIsZeroPadded) {
        const bool exists = vector < end;
        const int column = exists ? vector * kSize : kPeeledVectors * kSize;
        body(PlaceOf<true>{slot, column - shift_, 0, exists ? kSize : 0});
      } else {
        if (vector >= end) break;
        body(PlaceOf<true>{slot, vector * kSize - shift_, 0, kSize});
      }
    }
  }
  template <typename Body>
  __device__ __forceinline__ void peeled_before(int end, const Body& body) const {
    if (peeled_vector() < end) body(this->place_of(kSlots, peeled_vector()));
  }

  // The inner vectors have two others on either side, in whatever array: only of the peeled ones it
  // matters whether the row lies between others. They come last: what waits for them has no loads
  // behind it.
  template <int kCount, typename Direct>
  __device__ __forceinline__ void load_tiles_by(Tile (&tiles)[kCount], const Direct& direct) const {
    const auto each_inner = [&](const auto& body) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        each_inner_before(this->num_shown(tiles[i]), [&](const auto& place) { body(i, place); });
      }
    };
    if (this->are_aligned_as_anchor(tiles)) {
      each_inner(
          [&](int i, const auto& place) { direct(tiles[i], place, tiles[i].row + place.column); });
    } else {
      each_inner([&](int i, const auto& place) {
        tiles[i].set(place.slot, load_unaligned(tiles[i].row + place.column));
      });
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      peeled_before(this->num_shown(tiles[i]), [&](const auto& place) {
        tiles[i].set(place.slot, load_near_ends(tiles[i], place));
      });
    }
  }

 private:
  // This thread's; INT_MAX: none.
  __device__ __forceinline__ int peeled_vector() const {
    return Traits::kKeepsAddresses ? peeled_vector_ : find_peeled_vector();
  }
  __device__ __forceinline__ int find_peeled_vector() const {
    // The last threads, which have fewer of the others.
    const int end = self().num_threads() - 1 - self().thread();
    const int num_ends = num_vectors_ < 2 * kPeeledVectors ? num_vectors_ : 2 * kPeeledVectors;
    int vector = end < kPeeledVectors ? end : num_vectors_ - num_ends + end;
    if (end >= num_ends) vector = INT_MAX;
    return vector;
  }

  int peeled_vector_;
};

}  // namespace cudaops_kernels
