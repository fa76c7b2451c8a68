// SPDX-License-Identifier: Apache-2.0
// A row that starts and ends anywhere within a vector, in the registers of a block, a warp or a
// part of a warp: kVectors a thread and the peeled ones, so it takes no more registers than a
// RegisterRow. What it offers is said in row.h.
#pragma once

#include "peeled_row.cuh"

namespace cudaops_kernels {

// kZeroPadded: as RegisterRow's, of the inner vectors.
template <int kVectors, bool kZeroPadded>
struct RaggedRowTraits : PeeledRowTraits<kVectors> {
  static constexpr bool kIsZeroPadded = kZeroPadded;
  static constexpr int kVirtual = detail::num_virtual_threads(kVectors);
};

template <typename T, int kVectors, bool kZeroPadded>
class RaggedRow
    : public PeeledRow<RaggedRow<T, kVectors, kZeroPadded>, RaggedRowTraits<kVectors, kZeroPadded>,
                       T, RegisterTile<T, kVectors + 1>> {
  using Base = PeeledRow<RaggedRow, RaggedRowTraits<kVectors, kZeroPadded>, T,
                         RegisterTile<T, kVectors + 1>>;

 public:
  using Base::Base;
  using Base::kSize;
  using typename Base::Tile;
  template <bool kAll>
  using PlaceOf = typename Base::template PlaceOf<kAll>;

  template <int kCount>
  __device__ __forceinline__ void load_tiles(Tile (&tiles)[kCount]) const {
    const bool are_inside = this->are_inside(tiles);
    const bool are_aligned = this->are_aligned_as_anchor(tiles);
    const auto each_vector = [&](const auto& body) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        const int shown = this->num_shown(tiles[i]);
        this->peeled_before(shown, [&](const auto& place) { body(i, place); });
        this->each_inner_before(shown, [&](const auto& place) { body(i, place); });
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
        const Packed vector = this->load_near_ends(tiles[i], place);
        if constexpr (std::decay_t<decltype(place)>::kIsWhole) {
          tiles[i].set(place.slot, zero_padded(vector, place));
        } else {
          tiles[i].set(place.slot, vector);
        }
      });
    }
  }

 private:
  using Base::shift_;

  // A padding vector may have read anything.
  template <bool kAll>
  __device__ __forceinline__ static Packed zero_padded(const Packed& vector,
                                                       const PlaceOf<kAll>& place) {
    Packed result = {};
    if (!kZeroPadded || place.exists()) result = vector;
    return result;
  }
};

}  // namespace cudaops_kernels
