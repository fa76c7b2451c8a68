// SPDX-License-Identifier: Apache-2.0
// A row that starts and ends anywhere within a vector, in the registers of a block, a warp or a
// part of a warp: kVectors a thread. Head and tail are peeled: the row's first two and last two
// vectors are four threads' own, one more for each of them, with code of their own. The inner
// vectors are whole, and whatever lies around them belongs to the row: they need no look at its
// ends, and no more registers than a RegisterRow's. What it offers is said in row.h.
#pragma once

#include <climits>

#include "row_base.cuh"

namespace cudaops_kernels {

// kZeroPadded: as RegisterRow's, of the inner vectors.
template <int kVectors, bool kZeroPadded>
struct RaggedRowTraits : RowTraits<kVectors, false> {
  static constexpr int kKept = kVectors + 1;  // the last is the thread's peeled one, if it has one
  static constexpr int kComputed = kKept;
  static constexpr int kPeeledVectors = 2;
  static constexpr bool kIsZeroPadded = kZeroPadded;
  static constexpr int kVirtual = detail::num_virtual_threads(kVectors);
};

template <typename T, int kVectors, bool kZeroPadded>
class RaggedRow
    : public RowBase<RaggedRow<T, kVectors, kZeroPadded>, RaggedRowTraits<kVectors, kZeroPadded>, T,
                     RegisterTile<T, kVectors + 1>> {
  using Base =
      RowBase<RaggedRow, RaggedRowTraits<kVectors, kZeroPadded>, T, RegisterTile<T, kVectors + 1>>;

 public:
  using Base::kPeeledVectors;
  using Base::kSize;
  using typename Base::Tile;
  template <bool kAll>
  using PlaceOf = typename Base::template PlaceOf<kAll>;

  __device__ __forceinline__ RaggedRow(int64_t index, int64_t num_rows, int64_t width,
                                       const void* anchor, RowScratch* scratch)
      : Base(index, num_rows, width, anchor, scratch) {
    // The last threads, which have fewer of the others.
    const int end = this->num_threads() - 1 - this->thread();
    const int num_ends = num_vectors_ < 2 * kPeeledVectors ? num_vectors_ : 2 * kPeeledVectors;
    peeled_vector_ = end < kPeeledVectors ? end : num_vectors_ - num_ends + end;
    if (end >= num_ends) peeled_vector_ = INT_MAX;
  }

  __device__ __forceinline__ bool owns(int64_t column) const {
    if (!exists_) return false;
    const int vector = static_cast<int>((column + shift_) / kSize);
    if (vector < kPeeledVectors || vector >= num_vectors_ - kPeeledVectors) {
      return vector == peeled_vector_;
    }
    return (vector - kPeeledVectors) % this->num_threads() == this->thread();
  }

  template <typename Body>
  __device__ __forceinline__ void each_before(int end, const Body& body) const {
    each_inner_before(end, body);
    peeled_before(end, body);
  }

  template <int kCount>
  __device__ __forceinline__ void load_tiles(Tile (&tiles)[kCount]) const {
    const bool are_inside = this->are_inside(tiles);
    const bool are_aligned = this->are_aligned_as_anchor(tiles);
    const auto each_vector = [&](const auto& body) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        const int shown = this->num_shown(tiles[i]);
        peeled_before(shown, [&](const auto& place) { body(i, place); });
        each_inner_before(shown, [&](const auto& place) { body(i, place); });
      }
    };
    if (are_inside && are_aligned) {
      const T* first[kCount];
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        if constexpr (kZeroPadded) first[i] = this->first_vector(tiles[i].row);
      }
      each_vector([&](int i, const auto& place) {
        const T* data;
        if constexpr (kZeroPadded) {
          data = this->at_vector(first[i], place);
        } else {
          data = tiles[i].row + place.column;
        }
        Packed vector = {};
        if (!kZeroPadded || place.exists()) vector = load_ordered(data);
        tiles[i].set(place.slot, vector);
      });
    } else if (are_inside && kVectors <= 4) {
      // Both vectors of all before the first is waited for; with eight there are no registers for
      // that.
      Packed high[kCount][kVectors + 1];
      const auto offset_of = [&](int i) {
        return static_cast<unsigned int>(reinterpret_cast<uintptr_t>(tiles[i].row - shift_) % 16);
      };
      each_vector([&](int i, const auto& place) {
        const T* const aligned =
            tiles[i].row - shift_ - offset_of(i) / sizeof(T) + (place.column + shift_);
        tiles[i].set(place.slot, load_ordered(aligned));
        high[i][place.slot] = load_ordered(aligned + kSize);
      });
      each_vector([&](int i, const auto& place) {
        const Packed low = tiles[i].get(place.slot);
        tiles[i].set(place.slot,
                     zero_padded(funnel_shift<T>(low, high[i][place.slot], offset_of(i)), place));
      });
    } else if (are_inside) {
      each_vector([&](int i, const auto& place) {
        tiles[i].set(place.slot, zero_padded(load_unaligned(tiles[i].row + place.column), place));
      });
    } else {
      each_vector([&](int i, const auto& place) {
        Tile& tile = tiles[i];
        const T* const data = tile.row + place.column;
        if (std::decay_t<decltype(place)>::kIsWhole) {
          tile.set(place.slot,
                   zero_padded(is_aligned_to_16(data) ? load_ordered(data) : load_unaligned(data),
                               place));
        } else {
          tile.set(place.slot, detail::load_vector(tile.row, place, static_cast<int>(this->width()),
                                                   tile.margins));
        }
      });
    }
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
      const Packed* const aligned = reinterpret_cast<const Packed*>(start - offset) + vector;
      return funnel_shift<U>(load_readonly(aligned), load_readonly(aligned + 1), offset);
    } else if constexpr (kZeroPadded) {
      // Head and tail are in one warp: it would take both branches.
      const auto part = Base::template part_of<kPart>(place, first);
      return load_unaligned(columns + part.column, part.begin, part.end);
    } else {
      return Base::template packed_columns<kWhich>(columns, place, first);
    }
  }

 private:
  using Base::exists_;
  using Base::num_vectors_;
  using Base::shift_;

  template <typename Body>
  __device__ __forceinline__ void each_inner_before(int end, const Body& body) const {
    if (end > num_vectors_ - kPeeledVectors) end = num_vectors_ - kPeeledVectors;
    // Of a row without inner vectors nothing may be read at a padding vector's place.
    if (kZeroPadded && end <= kPeeledVectors) return;
#pragma unroll
    for (int slot = 0; slot < kVectors; ++slot) {
      const int vector = this->vector_at(slot);
      if constexpr (kZeroPadded) {
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
    if (peeled_vector_ < end) body(this->place_of(kVectors, peeled_vector_));
  }

  // A padding vector may have read anything.
  template <bool kAll>
  __device__ __forceinline__ static Packed zero_padded(const Packed& vector,
                                                       const PlaceOf<kAll>& place) {
    Packed result = {};
    if (!kZeroPadded || place.exists()) result = vector;
    return result;
  }

  int peeled_vector_;  // this thread's; INT_MAX: none
};

}  // namespace cudaops_kernels
