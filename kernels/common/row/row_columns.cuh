// SPDX-License-Identifier: Apache-2.0
// Columns: what is the same for all rows, of T or float.
#pragma once

#include "row_loads.cuh"

namespace cudaops_kernels {

template <typename Self, typename Traits, typename T, typename TileType>
class RowColumns : public RowLoads<Self, Traits, T, TileType> {
  using Base = RowLoads<Self, Traits, T, TileType>;

 public:
  using Base::Base;
  using Base::each;
  using Base::kIsWhole;
  using Base::kPeeledVectors;
  using Base::kSize;
  using Base::kSlots;
  template <bool kAll>
  using PlaceOf = typename Base::template PlaceOf<kAll>;
  using typename Base::Numbers;

  // Those that an op will ask for, named when its loads of the row are in flight. Columns take the
  // L1 cache's latency in most rows; where few rows are all there are, memory's.
  template <int kWhich = 0>
  __device__ __forceinline__ void prefetch_columns(const void*, DType) const {}

  // kWhich: of the op's, so that a thread with several rows can keep them.
  template <int kWhich = 0, typename U, bool kAll>
  __device__ __forceinline__ Numbers columns(const U* data, const PlaceOf<kAll>& place) const {
    Numbers numbers;
#pragma unroll
    for (int first = 0; first < kSize; first += Vector<U>::kSize) {
      const cudaops_kernels::Numbers<U> loaded =
          unpack<U>(self().template packed_columns<kWhich>(data, place, first));
#pragma unroll
      for (int k = 0; k < Vector<U>::kSize; ++k) numbers[first + k] = loaded[k];
    }
    return numbers;
  }
  template <int kWhich = 0, bool kAll>
  __device__ __forceinline__ Numbers columns(const void* data, DType dtype,
                                             const PlaceOf<kAll>& place) const {
    if (sizeof(T) < 4 && dtype == DType::kFloat32) {
      return columns<kWhich>(static_cast<const float*>(data), place);
    }
    return columns<kWhich>(static_cast<const T*>(data), place);
  }

  // The same for a thread that comes to its columns again and again: kept in registers.
  struct Columns {
    Numbers vectors[kSlots > 0 ? kSlots : 1];
    const void* data;
    DType dtype;
    float offset;
  };
  // data + offset; ones where data is null.
  __device__ __forceinline__ Columns keep_columns(const void* data, DType dtype,
                                                  float offset) const {
    static_assert(kPeeledVectors == 0, "persistent loops take no peeled rows");
    Columns columns;
    columns.data = data;
    columns.dtype = dtype;
    columns.offset = offset;
    if constexpr (kSlots > 0) {
      each([&](const auto& place) { columns.vectors[place.slot] = read(columns, place); });
    }
    return columns;
  }
  template <bool kAll>
  __device__ __forceinline__ Numbers at(const Columns& columns, const PlaceOf<kAll>& place) const {
    if constexpr (kSlots > 0) return columns.vectors[place.slot];
    return read(columns, place);
  }

  // From the `first`-th element of the place on: of float, kSize elements are two vectors.
  template <int kWhich, typename U, bool kAll>
  __device__ __forceinline__ Packed packed_columns(const U* data, const PlaceOf<kAll>& place,
                                                   int first) const {
    if constexpr (kIsWhole) {
      return load_readonly(data + place.column + first);
    } else {
      const auto part = Base::template part_of<Vector<U>::kSize>(place, first);
      const U* const own = data + part.column;
      // Each row needs its ends, and what lies around columns isn't known to be readable.
      if (part.column >= part.kSize - 1 && part.column + 2 * part.kSize - 1 <= width_) {
        return is_aligned_to_16(own) ? load_readonly(own) : load_unaligned(own);
      }
      return load_unaligned(own, part.begin, part.end);
    }
  }

 protected:
  using Base::self;
  using Base::width_;

  template <bool kAll>
  __device__ __forceinline__ Numbers read(const Columns& columns,
                                          const PlaceOf<kAll>& place) const {
    if (columns.data != nullptr) {
      return this->columns(columns.data, columns.dtype, place) + columns.offset;
    }
    return map([](float) { return 1.0f; }, Numbers());
  }
};

}  // namespace cudaops_kernels
