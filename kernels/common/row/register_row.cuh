// SPDX-License-Identifier: Apache-2.0
// A row of whole, aligned vectors in the registers of a block, a warp or a part of a warp: kVectors
// a thread. What it offers is said in row.h.
#pragma once

#include <type_traits>

#include "row_base.cuh"

namespace cudaops_kernels {

// kZeroPadded: each thread has kVectors vectors, of which those that the row doesn't have are
// zeros, and there is no branch around each. An op asks place.exists() before it stores.
// kIsWide: of more than a warp in any case, with few vectors a thread. kPrefetches: then the
// columns, too, are in registers when the row is; an op names them all by prefetch_columns().
template <int kVectors, bool kZeroPadded, bool kIsWide>
struct RegisterRowTraits : RowTraits<kVectors, true> {
  static constexpr bool kIsZeroPadded = kZeroPadded;
  // Without branches ptxas keeps unpacked numbers, and spills: 200 bytes a thread of eight vectors.
  static constexpr bool kUnpacksApart = kZeroPadded && kVectors > 4;
  static constexpr int kVirtual = detail::num_virtual_threads(kVectors);
  static constexpr bool kHasManyWarps = kIsWide;
  static constexpr bool kMaySplitWarps = !kIsWide;
};

template <typename T, int kVectors, bool kZeroPadded, bool kIsWide = false,
          bool kPrefetches = false>
class RegisterRow : public RowBase<RegisterRow<T, kVectors, kZeroPadded, kIsWide, kPrefetches>,
                                   RegisterRowTraits<kVectors, kZeroPadded, kIsWide>, T,
                                   RegisterTile<T, kVectors, kIsWide>> {
  using Base = RowBase<RegisterRow, RegisterRowTraits<kVectors, kZeroPadded, kIsWide>, T,
                       RegisterTile<T, kVectors, kIsWide>>;

 public:
  using Base::Base;
  using Base::kSize;
  using typename Base::Place;
  using typename Base::Tile;

  template <typename Body>
  __device__ __forceinline__ void each_before(int end, const Body& body) const {
#pragma unroll
    for (int slot = 0; slot < kVectors; ++slot) {
      const int vector = this->vector_at(slot);
      if constexpr (kZeroPadded) {
        // A padding vector may read the row's first. shift_ is 0; without it nvcc 13.0 puts the
        // selects of all slots before the loads.
        const bool exists = vector < end;
        const int column = exists ? vector * kSize : 0;
        body(Place{slot, column - this->shift_, 0, exists ? kSize : 0});
      } else {
        // One exit for all slots: a branch around each would cost more.
        if (vector >= end) break;
        body(Place{slot, vector * kSize, 0, kSize});
      }
    }
  }

  template <int kCount>
  __device__ __forceinline__ void load_tiles(Tile (&tiles)[kCount]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      Tile& tile = tiles[i];
      each_before(this->num_shown(tile), [&](const Place& place) {
        const T* const data = vector_of(tile.row, place);
        Packed vector = {};
        if (!kZeroPadded || place.exists()) vector = load_ordered(data);
        tile.set(place.slot, vector);
      });
    }
  }

  // Those of T: of float, beside 16-bit rows, there would be twice as many.
  template <int kWhich = 0>
  __device__ __forceinline__ void prefetch_columns(const void* data, DType dtype) const {
    if constexpr (kPrefetches) {
      if (data == nullptr || (sizeof(T) < 4 && dtype == DType::kFloat32)) return;
      this->each([&](const Place& place) {
        columns_[kWhich][place.slot] = load_ordered(vector_of(static_cast<const T*>(data), place));
      });
    }
  }
  template <int kWhich, typename U>
  __device__ __forceinline__ Packed packed_columns(const U* data, const Place& place,
                                                   int first) const {
    if constexpr (kPrefetches && std::is_same<T, U>::value) return columns_[kWhich][place.slot];
    return load_readonly(vector_of(data, place, kSize / Vector<U>::kSize) + first);
  }

 private:
  // data + place.column; per_place: vectors of U for one of T. By vectors nvcc takes one
  // instruction for the address of a zero-padded row's, and two for elements.
  template <typename U>
  __device__ __forceinline__ static U* vector_of(U* data, const Place& place, int per_place = 1) {
    if constexpr (!kZeroPadded) return data + place.column;
    return data + int64_t{place.column / kSize * per_place} * (kSize / per_place);
  }

  static constexpr int kMaxColumns = 2;  // an op's: weight and bias
  mutable Packed columns_[kMaxColumns][kVectors];
};

}  // namespace cudaops_kernels
