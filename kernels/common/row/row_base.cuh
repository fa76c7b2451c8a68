// SPDX-License-Identifier: Apache-2.0
// What the models of a row share: everything that can be said in terms of
//
//   Self::each_before(end, body)      body(place) for each vector of the thread's that comes before
//                                     vector `end` of the row
//   Self::load_tiles(tiles)           the loads of several rows, all in flight at once
//   Self::packed_columns<which>(data, place, first)   a vector of what all rows share
//   Self::thread(), num_threads()     among those that share the row
//
// A model that needs another way to do one of these, or any function below, has its own of the same
// name; calls go to the model's (self()).
#pragma once

#include <climits>
#include <cmath>

#include "block_reduce.cuh"
#include "row.h"
#include "row_tile.cuh"
#include "tuning_sm90.h"

namespace cudaops_kernels {

// What a model is, for RowBase and for ops.
template <int kVectors, bool kWhole>
struct RowTraits {
  static constexpr int kSlots = kVectors;       // vectors a thread; 0: any number
  static constexpr bool kIsWhole = kWhole;      // all vectors are whole and aligned
  static constexpr int kKept = kVectors;        // vectors of a loaded tile
  static constexpr int kComputed = kVectors;    // of a computed tile, in registers
  static constexpr int kPeeledVectors = 0;      // at each end of the row, apart from the others
  static constexpr int kVirtual = 1;            // virtual threads that each thread stands for
  static constexpr bool kIsZeroPadded = false;  // each thread has kSlots vectors; place.exists()
  // Only rows in a block's registers may take less than a warp.
  static constexpr bool kMaySplitWarps = kVectors > 0;
  // Else nvcc calculates a row's address again for each vector. Loops have no such choice.
  static constexpr bool kKeepsAddresses = kVectors > 0;
  // When a thread begins with a row.
  __device__ __forceinline__ static void enter() {}
};

template <typename Self, typename Traits, typename T, typename TileType>
class RowBase : public Traits {
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
  __device__ __forceinline__ RowBase(int64_t index, int64_t num_rows, int64_t width,
                                     const void* anchor, RowScratch* scratch)
      : index_(index),
        num_rows_(num_rows),
        width_(static_cast<int>(width)),
        scratch_(scratch),
        thread_(static_cast<int>(threadIdx.x)),
        exists_(index < num_rows) {
#if !CUDAOPS_HIP && CUDAOPS_DEVICE_CODE
    if constexpr (Traits::kKeepsAddresses) asm volatile("" : "+r"(thread_));
#endif
    Traits::enter();
    shift_ = 0;
    if constexpr (!kIsWhole) {
      shift_ = static_cast<int>(reinterpret_cast<uintptr_t>(anchor) % 16 / sizeof(T));
    }
    num_vectors_ = exists_ ? static_cast<int>((width + shift_ + kSize - 1) / kSize) : 0;
  }

  // Which half of the scratch is free: for a row that a block takes after another.
  __device__ __forceinline__ void follow(const Self& other) { buffer_ = other.buffer_; }

  __device__ __forceinline__ int64_t index() const { return index_; }
  __device__ __forceinline__ int64_t width() const { return width_; }
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

  // -------------------------------------------------------------------------------------------
  // Places

  // body(place) for each vector of this thread's.
  template <typename Body>
  __device__ __forceinline__ void each(const Body& body) const {
    self().each_before(num_vectors_, body);
  }
  // The same of those that have a visible element.
  template <typename Body>
  __device__ __forceinline__ void each_shown(const Tile& tile, const Body& body) const {
    self().each_before(num_shown(tile), body);
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

  // -------------------------------------------------------------------------------------------
  // Loads

  // All loads are issued before the first is used.
  __device__ __forceinline__ Tile load(const ConstRows& rows) const {
    Tile tile = load_ahead(rows);
    finish(tile);
    return tile;
  }
  // The same in two steps, for a row that is worked on later: finish() waits for the loads.
  __device__ __forceinline__ Tile load_ahead(const ConstRows& rows) const {
    Tile tiles[1] = {tile_of(rows)};
    self().load_tiles(tiles);
    return tiles[0];
  }
  __device__ __forceinline__ void finish(Tile& tile) const {
    if constexpr (kKept > 0 && !kIsWhole) {
      each([&](const auto& place) {
        if (place.is_whole()) return;
        tile.set(place.slot, masked<T>(tile.get(place.slot), place.begin, place.end));
      });
    }
  }
  // Several rows at once: all of them are in flight before the first is waited for.
  template <int kCount>
  __device__ __forceinline__ void load(const ConstRows (&rows)[kCount],
                                       Tile (&tiles)[kCount]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) tiles[i] = tile_of(rows[i]);
    self().load_tiles(tiles);
#pragma unroll
    for (int i = 0; i < kCount; ++i) finish(tiles[i]);
  }

  // The rows' first `visible` elements; the others are not read, they are `hidden`.
  template <int kCount>
  __device__ __forceinline__ void load_visible(const ConstRows (&rows)[kCount], int64_t visible,
                                               float hidden, Tile (&tiles)[kCount]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      tiles[i] = tile_of(rows[i]);
      tiles[i].visible = static_cast<int>(visible);
      tiles[i].hidden = hidden;
    }
    self().load_tiles(tiles);
    if constexpr (kKept > 0) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        Tile& tile = tiles[i];
        each([&](const auto& place) {
          if (!tile.shows_all(place)) {
            tile.set(place.slot, tile.with_hidden(tile.get(place.slot), place));
          }
        });
      }
    }
  }
  __device__ __forceinline__ Tile load_visible(const ConstRows& rows, int64_t visible,
                                               float hidden) const {
    const ConstRows all[1] = {rows};
    Tile tiles[1];
    load_visible(all, visible, hidden, tiles);
    return tiles[0];
  }

  // -------------------------------------------------------------------------------------------
  // New rows

  // Rounded to T and written to `out`, any rows: body(place) gives its numbers.
  template <typename Body>
  __device__ __forceinline__ Tile make(const Rows& out, const Body& body) const {
    Tile tile = self().tile_at(out.template row<T>(index_), out.stride);
    each([&](const auto& place) {
      const Packed vector = pack<T>(body(place));
      tile.set(place.slot, vector);
      if (!kIsZeroPadded || place.exists()) {
        self().store_anywhere(out.template row<T>(index_), place, vector);
      }
    });
    return tile;
  }

  // Rounded to T; where a row doesn't fit in registers, body(place) is called as often as the
  // numbers are asked for.
  template <typename Body>
  __device__ __forceinline__ auto compute(const Body& body) const {
    ComputedTile<T, Traits::kComputed, Body> computed(body);
    if constexpr (Traits::kComputed > 0) {
      const auto fill = [&](const auto& numbers) {
        each([&](const auto& place) { computed.set(place.slot, pack<T>(numbers(place))); });
      };
      if constexpr (kIsZeroPadded) {
        dispatch_condition(body, fill);
      } else {
        fill(body);
      }
    }
    return computed;
  }

  // To the rows that are the grid's anchor.
  template <bool kAll>
  __device__ __forceinline__ void store(const Rows& anchor, const PlaceOf<kAll>& place,
                                        const Numbers& numbers) const {
    T* const row = anchor.template row<T>(index_);
    const Packed packed = pack<T>(numbers);
    T* const data = row + place.column;
    if (kAll || place.is_whole()) {
      store_aligned(data, packed);
    } else {
      store_elements(data, packed, place.begin, place.end);
    }
  }

  // -------------------------------------------------------------------------------------------
  // Columns: what is the same for all rows, of T or float.

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

  // -------------------------------------------------------------------------------------------
  // Reductions over the row's threads; all of them get the result. Every thread of the block must
  // call these.

  // Value: at most 16 bytes that a shuffle takes; identity: op(identity, x) is x.
  template <typename Value, typename Op>
  __device__ __forceinline__ Value reduce(Value value, const Value& identity, const Op& op) {
    static_assert(sizeof(Value) <= RowScratch::kMaxValueBytes, "no room for so large a value");
    const int block_threads = blockDim.x;
    if (Traits::kMaySplitWarps && block_threads < detail::kReduceLanes) {
      return cudaops::warp_reduce(value, op, block_threads);
    }
    return reduce_over_block(detail::reduce_over_group<detail::kReduceLanes>(value, op), identity,
                             op);
  }
  __device__ __forceinline__ float sum(float value) {
    return reduce(value, 0.0f, detail::AddValues());
  }
  template <int kCount>
  __device__ __forceinline__ Floats<kCount> sum(const Floats<kCount>& values) {
    return reduce(values, Floats<kCount>(), detail::AddValues());
  }
  __device__ __forceinline__ float max(float value) {
    return reduce(value, -INFINITY, [](float a, float b) { return fmaxf(a, b); });
  }
  // Of numbers of which none is negative or NaN.
  __device__ __forceinline__ float max_of_magnitudes(float value) {
    return __uint_as_float(reduce(__float_as_uint(value), 0u, detail::MaxOfBits()));
  }

  // The same where bits matter: in an order that the row's width decides, however many threads take
  // the row. It is that of virtual threads with kVirtualVectors vectors each, and a thread with
  // more vectors stands for several of them, one in so many slots each.
  template <typename Value>
  using Shares = cudaops_kernels::Shares<Value, kVirtual, kSlots>;
  template <typename Value>
  __device__ __forceinline__ static Shares<Value> shares(const Value& value) {
    return Shares<Value>(value);
  }
  template <typename Value, typename Op>
  __device__ __forceinline__ Value reduce_shares(const Shares<Value>& shares, const Value& identity,
                                                 const Op& op) {
    if constexpr (kVirtual == 1) {
      return reduce(shares.of[0], identity, op);
    } else {
      const int block_threads = static_cast<int>(blockDim.x);
      if (block_threads < detail::kReduceLanes) {
        Value value = shares.of[0];
#pragma unroll
        for (int i = 1; i < kVirtual; ++i) value = op(value, shares.of[i]);
        return cudaops::warp_reduce(value, op, block_threads);
      }
      Value value = detail::reduce_each_over_group<detail::kReduceLanes>(shares.of, op);
      if (block_threads > detail::kReduceLanes) {
        return reduce_over_block<kVirtual>(value, identity, op);
      }
#pragma unroll
      for (int i = kVirtual / 2; i > 0; i /= 2) {
        value = op(value, cudaops::shfl_xor(value, i * detail::kReduceLanes / kVirtual, 32));
      }
      return value;
    }
  }
  // The sum of body(place) over the row.
  template <typename Body>
  __device__ __forceinline__ float sum_of(const Body& body) {
    Shares<float> sums(0);
    each([&](const auto& place) { sums.at(place) += body(place); });
    return reduce_shares(sums, 0.0f, detail::AddValues());
  }
  // The largest of a tile, or of its negatives, of each virtual thread; minus infinity if nothing.
  __device__ __forceinline__ Shares<float> largest(const Tile& tile,
                                                   bool of_negatives = false) const {
    Shares<AbsMax<T>> largest(AbsMax<T>(-INFINITY));
    each_shown(tile, [&](const auto& place) {
      const Packed vector = tile.packed(place);
      largest.at(place).add_signed(of_negatives ? negated<T>(vector) : vector);
    });
    Shares<float> values(0);
#pragma unroll
    for (int i = 0; i < kVirtual; ++i) values.of[i] = largest.of[i].value();
    return values;
  }

 protected:
  static constexpr bool kAddressesByVector = kIsZeroPadded && !kIsWhole;

  __device__ __forceinline__ const Self& self() const { return static_cast<const Self&>(*this); }
  __device__ __forceinline__ Self& self() { return static_cast<Self&>(*this); }

 public:
  // ---------------------------------------------------------------------------------------------
  // For the models: what most of them have in common.

  __device__ __forceinline__ int thread() const { return thread_; }
  __device__ __forceinline__ int num_threads() const { return static_cast<int>(blockDim.x); }

  __device__ __forceinline__ Place place_of(int slot, int vector) const {
    const int column = vector * kSize - shift_;
    if constexpr (kIsWhole) return {slot, column, 0, kSize};
    const int left = width_ - column;
    return {slot, column, column < 0 ? -column : 0, left < kSize ? left : kSize};
  }

  __device__ __forceinline__ Tile tile_at(const T* data, int64_t stride) const {
    Tile tile;
    tile.row = Traits::kKeepsAddresses ? kept_address(data) : data;
    tile.width = width_;
    tile.margins = detail::margins_of_row<kSize>(index_, num_rows_, stride);
    return tile;
  }

  // From the `first`-th element of the place on: of float, kSize elements are two vectors.
  template <int kWhich, typename U, bool kAll>
  __device__ __forceinline__ Packed packed_columns(const U* data, const PlaceOf<kAll>& place,
                                                   int first) const {
    if constexpr (kIsWhole) {
      return load_readonly(data + place.column + first);
    } else {
      const auto part = part_of<Vector<U>::kSize>(place, first);
      const U* const own = data + part.column;
      // Each row needs its ends, and what lies around columns isn't known to be readable.
      if (part.column >= part.kSize - 1 && part.column + 2 * part.kSize - 1 <= width_) {
        return is_aligned_to_16(own) ? load_readonly(own) : load_unaligned(own);
      }
      return load_elements(own, part.begin, part.end);
    }
  }

  // What one warp, and then one block, has left. Self::reduce_over_blocks(): of a cluster.
  template <int kEach = 1, typename Value, typename Op>
  __device__ __forceinline__ Value reduce_over_block(Value value, const Value& identity,
                                                     const Op& op) {
    if (static_cast<int>(blockDim.x) == detail::kReduceLanes) return value;
    value = detail::reduce_over_warps<kEach>(scratch_->warps[buffer_], value, identity, op);
    value = self().reduce_over_blocks(value, identity, op);
    buffer_ ^= 1;
    return value;
  }
  template <typename Value, typename Op>
  __device__ __forceinline__ Value reduce_over_blocks(const Value& value, const Value&, const Op&) {
    return value;
  }

  // To a row that may have another alignment than the anchor's.
  template <bool kAll>
  __device__ __forceinline__ void store_anywhere(T* row, const PlaceOf<kAll>& place,
                                                 const Packed& packed) const {
    T* const data = row + place.column;
    const bool is_aligned = kIsWhole || is_aligned_to_16(data);
    const int lanes = is_aligned ? 0 : num_lanes(place);
    if (kIsWhole || (is_aligned && place.is_whole())) {
      store_aligned(data, packed);
    } else if (lanes > 0) {
      store_unaligned(data, packed, place.begin, place.end, lanes);
    } else {
      store_elements(data, packed, place.begin, place.end);
    }
  }

 protected:
  __device__ __forceinline__ Tile tile_of(const ConstRows& rows) const {
    return self().tile_at(rows.template row<T>(index_), rows.stride);
  }

  // Vectors up to the last with a visible element.
  __device__ __forceinline__ int num_shown(const Tile& tile) const {
    const int shown = (tile.visible + shift_ + kSize - 1) / kSize;
    return shown < num_vectors_ ? shown : num_vectors_;
  }

  // For load_tiles(): direct(tile, place, data) issues the load of an aligned vector. Rows that lie
  // between others are loaded without a look at their ends: a branch or a choice for each vector,
  // and the place where branches meet, would have a load wait for those before.
  template <int kCount, typename Direct>
  __device__ __forceinline__ void load_tiles_by(Tile (&tiles)[kCount], const Direct& direct) const {
    const bool are_inside = this->are_inside(tiles);
    const bool are_aligned = this->are_aligned_as_anchor(tiles);
    const auto each_vector = [&](const auto& body) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        self().each_before(num_shown(tiles[i]), [&](const auto& place) { body(i, place); });
      }
    };
    if (are_inside && are_aligned) {
      each_vector(
          [&](int i, const auto& place) { direct(tiles[i], place, tiles[i].row + place.column); });
    } else if (are_inside) {
      each_vector([&](int i, const auto& place) {
        tiles[i].set(place.slot, load_unaligned(tiles[i].row + place.column));
      });
    } else {
      each_vector([&](int i, const auto& place) {
        Tile& tile = tiles[i];
        tile.set(place.slot, detail::load_vector(tile.row, place, width_, tile.margins));
      });
    }
  }

  // Whether all of the rows lie between others.
  template <int kCount>
  __device__ __forceinline__ bool are_inside(const Tile (&tiles)[kCount]) const {
    bool are_inside = true;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const detail::Margins& margins = tiles[i].margins;
      are_inside = are_inside && (kIsWhole || (margins.before && margins.behind));
    }
    return are_inside;
  }
  template <int kCount>
  __device__ __forceinline__ bool are_aligned_as_anchor(const Tile (&tiles)[kCount]) const {
    bool are_aligned = true;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      are_aligned = are_aligned && (kIsWhole || is_aligned_to_16(tiles[i].row - shift_));
    }
    return are_aligned;
  }

  // The part of a place that starts at its `first`-th element.
  template <int kPart, bool kAll>
  __device__ __forceinline__ static cudaops_kernels::Place<kPart, false> part_of(
      const PlaceOf<kAll>& place, int first) {
    const auto clamp = [](int k) { return k < 0 ? 0 : (k > kPart ? kPart : k); };
    return {place.slot, place.column + first, clamp(place.begin - first), clamp(place.end - first)};
  }

  template <bool kAll>
  __device__ __forceinline__ Numbers read(const Columns& columns,
                                          const PlaceOf<kAll>& place) const {
    if (columns.data != nullptr) {
      return this->columns(columns.data, columns.dtype, place) + columns.offset;
    }
    return map([](float) { return 1.0f; }, Numbers());
  }

  // So many lanes of the warp, from the first on, have a vector at this slot; 0 where they aren't
  // neighbours. Where rows are shorter than a warp it is not worth it.
  template <bool kAll>
  __device__ __forceinline__ int num_lanes(const PlaceOf<kAll>& place) const {
    if (blockDim.x < detail::kReduceLanes || (kPeeledVectors > 0 && !kAll)) return 0;
    const int first = static_cast<int>((place.column + shift_) / kSize) -
                      static_cast<int>(threadIdx.x % detail::kReduceLanes);
    const int left = num_vectors_ - kPeeledVectors - first;
    return left < detail::kReduceLanes ? left : detail::kReduceLanes;
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
