// SPDX-License-Identifier: Apache-2.0
// What Row::load() and Row::make() return: the row's elements, vector by vector. Elements beyond
// the row are 0, and elements beyond the visible ones what load_visible() was told.
#pragma once

#include <climits>

#include "../unaligned.cuh"
#include "row.h"

namespace cudaops_kernels {
namespace detail {

// Whether two vectors before and behind a row may be read: what lies there belongs to other rows,
// except near the ends of the array.
struct Margins {
  bool before;
  bool behind;
};

template <int kSize>
__device__ __forceinline__ Margins margins_of_row(int64_t index, int64_t num_rows, int64_t stride) {
  return {index * stride >= 2 * kSize, (num_rows - 1 - index) * stride >= 2 * kSize};
}

// The vector at row[place.column]; where the row has no elements anything.
template <typename T, int kSize, bool kWhole>
__device__ __forceinline__ Packed load_vector(const T* row, const Place<kSize, kWhole>& place,
                                              int width, const Margins& margins) {
  static_assert(kSize == Vector<T>::kSize, "a vector of another type's size");
  const T* data = row + place.column;
  if constexpr (kWhole) return load_ordered(data);
  const bool is_aligned = is_aligned_to_16(data);
  const int reach = is_aligned ? kSize : 2 * kSize - 1;
  if ((margins.before || place.column >= (is_aligned ? 0 : kSize - 1)) &&
      (margins.behind || place.column + reach <= width)) {
    return is_aligned ? load_ordered(data) : load_unaligned(data);
  }
  return load_unaligned_looped(data, place.begin, place.end);
}

// Where a tile comes from, and how much of it is visible.
template <typename T>
struct TileSource {
  static constexpr int kSize = Vector<T>::kSize;
  const T* row;
  int width;
  int visible = INT_MAX - 64;  // all; a shift may be added
  float hidden = 0;
  Margins margins;

  // Whether the vector at `place` has a visible element; nothing else.
  template <typename Place>
  __device__ __forceinline__ bool shows(const Place& place) const {
    return place.column + place.begin < visible;
  }
  template <typename Place>
  __device__ __forceinline__ bool shows_all(const Place& place) const {
    return place.is_whole() && place.column + kSize <= visible;
  }
  template <typename Place>
  __device__ __forceinline__ Packed with_hidden(const Packed& vector, const Place& place) const {
    int end = place.end;
    if (place.column + end > visible) end = shows(place) ? visible - place.column : 0;
    return masked<T>(vector, place.begin, end, hidden);
  }
};

// Before the source among a tile's bases: with another order of the same members nvcc allocates
// registers otherwise.
template <int kCount>
struct TileVectors {
  Packed vectors[kCount];
};

// What every tile offers, by Self::packed(place).
template <typename Self, typename T>
struct Unpacks {
  template <typename Place>
  __device__ __forceinline__ Numbers<T> at(const Place& place) const {
    return unpack<T>(static_cast<const Self*>(this)->packed(place));
  }
};

// The same of vectors that are kept, by Self::get(slot).
template <typename Self, typename T, bool kIsShort = false>
struct Keeps : Unpacks<Self, T> {
  template <typename Place>
  __device__ __forceinline__ Packed packed(const Place& place) const {
    const Packed vector = static_cast<const Self*>(this)->get(place.slot);
    return kIsShort ? vector : kept_packed<T>(vector);
  }
};

}  // namespace detail

// In registers: kCount vectors of the thread's. get() and set() are for the models. kIsShort: with
// so few vectors there is room for their numbers, too, once they are unpacked.
template <typename T, int kCount, bool kIsShort = false>
class RegisterTile : public detail::TileVectors<kCount>,
                     public detail::TileSource<T>,
                     public detail::Keeps<RegisterTile<T, kCount, kIsShort>, T, kIsShort> {
 public:
  __device__ __forceinline__ Packed get(int slot) const { return this->vectors[slot]; }
  __device__ __forceinline__ void set(int slot, const Packed& vector) {
    this->vectors[slot] = vector;
  }
};

// What Row::compute() returns: rows that no array holds. In registers, or calculated again each
// time where there are none to spare (kCount 0).
template <typename T, int kCount, typename Body>
class ComputedTile : public detail::Keeps<ComputedTile<T, kCount, Body>, T> {
 public:
  __device__ __forceinline__ explicit ComputedTile(const Body&) {}
  __device__ __forceinline__ Packed get(int slot) const { return vectors_[slot]; }
  __device__ __forceinline__ void set(int slot, const Packed& vector) { vectors_[slot] = vector; }

 private:
  Packed vectors_[kCount];
};
template <typename T, typename Body>
class ComputedTile<T, 0, Body> : public detail::Unpacks<ComputedTile<T, 0, Body>, T> {
 public:
  __device__ __forceinline__ explicit ComputedTile(const Body& body) : body_(body) {}
  template <typename Place>
  __device__ __forceinline__ Packed packed(const Place& place) const {
    return pack<T>(body_(place));
  }

 private:
  Body body_;
};

}  // namespace cudaops_kernels
