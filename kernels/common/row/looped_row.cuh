// SPDX-License-Identifier: Apache-2.0
// A row of any length, by one block: each pass over it reads it again, from the cache where that
// has room. What it offers is said in row.h. kIsDivided: by the blocks of a grid's column, of an op
// that calls for no reduction.
#pragma once

#include "row_base.cuh"

namespace cudaops_kernels {

// Nothing but where the row is.
template <typename T>
class LoopedTile : public detail::TileSource<T>, public detail::Unpacks<LoopedTile<T>, T> {
 public:
  template <typename Place>
  __device__ __forceinline__ Packed packed(const Place& place) const {
    return shown(load(place), place);
  }
  // The same in two steps.
  template <typename Place>
  __device__ __forceinline__ Packed load(const Place& place) const {
    Packed vector = {};
    if (this->shows(place)) {
      vector = detail::load_vector(this->row, place, this->width, this->margins);
    }
    return vector;
  }
  template <typename Place>
  __device__ __forceinline__ Packed shown(const Packed& vector, const Place& place) const {
    return this->shows_all(place) ? vector : this->with_hidden(vector, place);
  }
  __device__ __forceinline__ void set(int, const Packed&) {}
};

template <typename T, bool kWhole, bool kIsDivided>
class LoopedRow
    : public RowBase<LoopedRow<T, kWhole, kIsDivided>, RowTraits<0, kWhole>, T, LoopedTile<T>> {
  using Base = RowBase<LoopedRow, RowTraits<0, kWhole>, T, LoopedTile<T>>;

 public:
  using Base::Base;
  using typename Base::Tile;

  __device__ __forceinline__ int thread() const {
    if constexpr (!kIsDivided) return Base::thread();
    return static_cast<int>(blockIdx.y * blockDim.x) + Base::thread();
  }
  __device__ __forceinline__ int num_threads() const {
    if constexpr (!kIsDivided) return Base::num_threads();
    return static_cast<int>(gridDim.y * blockDim.x);
  }

  template <typename Body>
  __device__ __forceinline__ void each_before(int end, const Body& body) const {
    for (int vector = this->thread(); vector < end; vector += this->num_threads()) {
      body(this->place_of(0, vector));
    }
  }
  template <typename Body>
  __device__ __forceinline__ void each_of(const Tile& tile, const Body& body) const {
    constexpr int kAtOnce = kWhole ? detail::kVectorsAtOnce : 1;
    const int step = this->num_threads(), end = this->num_vectors();
    for (int first = this->thread(); first < end; first += kAtOnce * step) {
      Packed vectors[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const int vector = first + i * step;
        if (vector < end) vectors[i] = tile.load(this->place_of(0, vector));
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const int vector = first + i * step;
        if (vector >= end) break;
        const auto place = this->place_of(0, vector);
        body(place, unpack<T>(tile.shown(vectors[i], place)));
      }
    }
  }

  template <int kCount>
  __device__ __forceinline__ void load_tiles(Tile (&)[kCount]) const {}
};

}  // namespace cudaops_kernels
