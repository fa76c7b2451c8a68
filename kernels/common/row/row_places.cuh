// SPDX-License-Identifier: Apache-2.0
// Which elements of its row a thread has: what all models share, and the names of a model's types.
#pragma once

#include "block_reduce.cuh"
#include "row.h"
#include "row_tile.cuh"
#include "tuning_sm90.h"

namespace cudaops_kernels {

// What a model is, for what they share and for ops.
template <int kVectors, bool kWhole>
struct RowTraits {
  static constexpr int kSlots = kVectors;     // vectors a thread; 0: any number
  static constexpr bool kIsWhole = kWhole;    // all vectors are whole and aligned
  static constexpr int kKept = kVectors;      // vectors of a loaded tile
  static constexpr int kComputed = kVectors;  // of a computed tile, in registers
  static constexpr int kPeeledVectors = 0;    // at each end of the row, apart from the others
  static constexpr bool kIsPacked = false;    // packed_rows.cuh's: a lane's elements are apart
  static constexpr int kVirtual = 1;          // virtual threads that each thread stands for
  // No registers for a tile's numbers between two passes over it (unpack_apart()).
  static constexpr bool kUnpacksApart = false;
  static constexpr bool kIsZeroPadded = false;  // each thread has kSlots vectors; place.exists()
  // Only rows in a block's registers may take less than a warp.
  static constexpr bool kMaySplitWarps = kVectors > 0;
  static constexpr bool kHasManyWarps = false;  // in any case
  // Else nvcc calculates a row's address again for each vector. Loops have no such choice.
  static constexpr bool kKeepsAddresses = kVectors > 0;
  // When a thread begins with a row.
  __device__ __forceinline__ static void enter() {}
};

template <typename Self, typename Traits, typename T, typename TileType>
class RowPlaces : public Traits {
 public:
  using Element = T;
  static constexpr int kSize = Vector<T>::kSize;
  using Traits::kIsWhole;
  using Traits::kIsZeroPadded;
  using Traits::kKept;
  using Traits::kPeeledVectors;
  using Traits::kSlots;
  using Traits::kVirtual;
  // What a body gets is a Place or, of the inner vectors of a peeled row, a PlaceOf<true>.
  template <bool kAll>
  using PlaceOf = cudaops_kernels::Place<kSize, kAll>;
  using Place = PlaceOf<kIsWhole>;
  using Numbers = cudaops_kernels::Numbers<T>;
  using Tile = TileType;

  // `anchor`: the row's start where vectors are laid out; `scratch`: of the block.
  __device__ __forceinline__ RowPlaces(int64_t index, int64_t num_rows, int64_t width,
                                       const void* anchor, RowScratch* scratch)
      : index_(index),
        num_rows_(num_rows),
        width_(static_cast<int>(width)),
        scratch_(scratch),
        thread_(static_cast<int>(threadIdx.x)),
        exists_(Traits::kHasManyWarps || index < num_rows) {
#if !CUDAOPS_HIP && CUDAOPS_DEVICE_CODE
    if constexpr (Traits::kKeepsAddresses) asm volatile("" : "+r"(thread_));
#endif
    Traits::enter();
    shift_ = 0;
    if constexpr (!kIsWhole) {
      shift_ = static_cast<int>(reinterpret_cast<uintptr_t>(anchor) % 16 / sizeof(T));
    }
    num_vectors_ = exists_ ? static_cast<int>((width + shift_ + kSize - 1) / kSize) : 0;
    // In fewer instructions, which would have persistent loops allocate other registers.
    if constexpr (Traits::kHasManyWarps && kIsWhole) num_vectors_ = static_cast<int>(width) / kSize;
  }

  // Which half of the scratch is free: for a row that a block takes after another.
  __device__ __forceinline__ void follow(const Self& other) {
    buffer_ = static_cast<const RowPlaces&>(other).buffer_;
  }

  __device__ __forceinline__ int64_t index() const { return index_; }
  __device__ __forceinline__ int width() const { return width_; }
  // A block's last rows may be none.
  __device__ __forceinline__ bool exists() const { return exists_; }
  // One thread of each row: it writes what there is once a row.
  __device__ __forceinline__ bool is_leader() const { return self().thread() == 0 && exists_; }
  // Whether its threads are of one warp, and a reduction takes no barrier.
  __device__ __forceinline__ bool is_in_warp() const {
    return Traits::kMaySplitWarps && blockDim.x <= detail::kReduceLanes;
  }
  // Whether the thread stores the element at this column, in rows aligned as the anchor's.
  __device__ __forceinline__ bool owns(int64_t column) const {
    return exists_ &&
           static_cast<int>((column + shift_) / kSize) % self().num_threads() == self().thread();
  }

  // body(place) for each vector of this thread's.
  template <typename Body>
  __device__ __forceinline__ void each(const Body& body) const {
    self().each_before(num_vectors_, body);
  }

  // The row's vector that is this thread's at a slot; perhaps none that there is.
  __device__ __forceinline__ int vector_at(int slot) const {
    return kPeeledVectors + slot * self().num_threads() + self().thread();
  }
  // Which of the row's vectors is at a place that exists.
  template <bool kAll>
  __device__ __forceinline__ int index_of(const PlaceOf<kAll>& place) const {
    if constexpr (kIsZeroPadded && kAll) return vector_at(place.slot);
    return (place.column + shift_) / kSize;
  }
  __device__ __forceinline__ int num_vectors() const { return num_vectors_; }
  // Elements of the first vector before the row.
  __device__ __forceinline__ int shift() const { return shift_; }

  // For at_vector(): where the row begins in an array aligned as the anchor; of a zero-padded row,
  // where its first vector begins. By vectors nvcc takes one instruction for an address, by columns
  // several.
  template <typename U>
  __device__ __forceinline__ U* first_vector(U* data) const {
    return kept_address(kAddressesByVector ? data - shift_ : data);
  }
  // The vector at a place that exists.
  template <typename U, bool kAll>
  __device__ __forceinline__ U* at_vector(U* first_vector, const PlaceOf<kAll>& place) const {
    if constexpr (!kAddressesByVector) return first_vector + place.column;
    return first_vector + int64_t{index_of(place)} * kSize;
  }
  // The same of bytes, one for each element.
  __device__ __forceinline__ uint8_t* first_byte(const Rows& rows) const {
    return first_vector(rows.template row<uint8_t>(index_));
  }

  __device__ __forceinline__ int thread() const { return thread_; }
  __device__ __forceinline__ int num_threads() const { return static_cast<int>(blockDim.x); }

  template <typename Body>
  __device__ __forceinline__ void each_before(int end, const Body& body) const {
#pragma unroll
    for (int slot = 0; slot < kSlots; ++slot) {
      const int vector = vector_at(slot);
      if (vector >= end) break;
      body(place_of(slot, vector));
    }
  }
  __device__ __forceinline__ Place place_of(int slot, int vector) const {
    const int column = vector * kSize - shift_;
    if constexpr (kIsWhole) return {slot, column, 0, kSize};
    const int left = width_ - column;
    return {slot, column, column < 0 ? -column : 0, left < kSize ? left : kSize};
  }

 protected:
  static constexpr bool kAddressesByVector = kIsZeroPadded && !kIsWhole;

  __device__ __forceinline__ const Self& self() const { return static_cast<const Self&>(*this); }
  __device__ __forceinline__ Self& self() { return static_cast<Self&>(*this); }

  // The part of a place that starts at its `first`-th element.
  template <int kPart, bool kAll>
  __device__ __forceinline__ static cudaops_kernels::Place<kPart, false> part_of(
      const PlaceOf<kAll>& place, int first) {
    const auto clamp = [](int k) { return k < 0 ? 0 : (k > kPart ? kPart : k); };
    return {place.slot, place.column + first, clamp(place.begin - first), clamp(place.end - first)};
  }

  int64_t index_;
  int64_t num_rows_;
  int width_;
  RowScratch* scratch_;
  int num_vectors_;
  int shift_;
  int thread_;
  int buffer_ = 0;
  bool exists_;
};

}  // namespace cudaops_kernels
