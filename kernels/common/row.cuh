// SPDX-License-Identifier: Apache-2.0
// The engine of all ops that reduce over rows. An op says what happens to one row, in the order of
// its formula; the engine spreads rows over threads, keeps a row in registers while it fits, and
// reads and writes 16 bytes at a time at any width and alignment.
//
//   template <typename T>
//   struct Scale {  // rows divided by their largest element
//     using Element = T;
//     static constexpr int kNumTiles = 1;  // rows that it has at once; 0 if it reads them once
//     static constexpr bool kReadsColumns = false;
//     ConstRows input;
//     Rows output;
//     template <typename Row>
//     __device__ void operator()(Row& row) const {
//       const auto x = row.load(input);
//       float largest = 0;
//       row.each([&](auto place) {
//         const auto v = x.at(place);
//         for (int k = 0; k < v.kSize; ++k) largest = fmaxf(largest, v[k]);
//       });
//       largest = row.max(largest);
//       row.each([&](auto place) { row.store(output, place, x.at(place) * (1 / largest)); });
//     }
//   };
//   launch_rows(Scale<T>{input, output}, RowGrid{num_rows, width, output}, aligned, stream);
//
// How a row is spread: its 16-byte vectors go round the threads, vector i * threads + t to thread
// t, so that each load of a warp is contiguous. Up to 128 vectors a row belongs to a warp or a part
// of one, up to 4096 to a block, up to 32768 (16384 if the op holds several rows at once) to a
// cluster of blocks (cluster.cuh); longer rows, and on GPUs without clusters those above 4096, are
// read again for each pass. Short-lived blocks with one row each keep more loads in flight than a
// persistent grid does.
//
// Rows of 33 to 256 elements that stand one behind the other and aren't whole vectors are spans
// (row_span.cuh), if the op names its arrays.
//
// Alignment: vectors lie where the *output's* row has its multiples of 16 bytes (RowGrid's anchor),
// so that stores are always whole; a row that starts elsewhere has a shorter first and last vector.
// Inputs that lie differently are put together from two aligned loads, of which the second comes
// from the cache. Rows in a block's registers have their first and last vectors apart from the
// others, so that these need no more than those of whole rows.
#pragma once

#include <cuda_runtime.h>
#include <cudaops/check.h>

#include <climits>
#include <cmath>
#include <stdexcept>

#include "cluster.cuh"
#include "row_span.cuh"
#include "rows.h"
#include "vectors.cuh"

namespace cudaops_kernels {

// One vector of a row: element k is the row's element column + k, for begin <= k < end.
template <int kElements, bool kWhole>
struct Place {
  static constexpr int kSize = kElements;
  static constexpr bool kIsWhole = kWhole;
  int slot;    // which of the thread's vectors
  int column;  // below 0 where the row starts within the vector
  int begin;
  int end;
  __device__ __forceinline__ bool is_whole() const { return kWhole || end - begin == kSize; }
  __device__ __forceinline__ bool holds(int k) const { return kWhole || (k >= begin && k < end); }
  // False for what a row that is filled doesn't have.
  __device__ __forceinline__ bool exists() const { return begin < end; }
};

// body(place, condition) as a body(place), where the condition is the same for a whole row: what
// has no other branch for each vector asks it once.
template <typename Body>
struct Conditional {
  Body body;
  bool condition;
  template <typename Place>
  __device__ __forceinline__ auto operator()(const Place& place) const {
    return body(place, condition);
  }
};
template <typename Body>
__device__ __forceinline__ Conditional<Body> conditional(bool condition, const Body& body) {
  return {body, condition};
}

// use(body) where no condition is open.
template <typename Body, typename Use>
__device__ __forceinline__ void with_condition_asked(const Body& body, const Use& use) {
  use(body);
}
template <typename Body, typename Use>
__device__ __forceinline__ void with_condition_asked(const Conditional<Body>& body,
                                                     const Use& use) {
  if (body.condition) {
    use([&](const auto& place) { return body.body(place, true); });
  } else {
    use([&](const auto& place) { return body.body(place, false); });
  }
}

namespace detail {

constexpr int kMaxThreadsByFour = 128;  // of a row, with four vectors each, where eight are better

// Whether two vectors before and behind a row may be read: what lies there belongs to other rows,
// except near the ends of the array.
struct Around {
  bool before;
  bool behind;
};

template <int kSize>
__device__ __forceinline__ Around rows_around(int64_t index, int64_t num_rows, int64_t stride) {
  return {index * stride >= 2 * kSize, (num_rows - 1 - index) * stride >= 2 * kSize};
}

// The vector at row[place.column]; where the row has no elements anything.
template <typename T, int kSize, bool kWhole>
__device__ __forceinline__ Packed load_vector(const T* row, const Place<kSize, kWhole>& place,
                                              int width, const Around& around) {
  static_assert(kSize == Vector<T>::kSize, "a vector of another type's size");
  const T* data = row + place.column;
  if constexpr (kWhole) return load_early(data);
  const bool is_aligned = is_aligned_to_16(data);
  const int reach = is_aligned ? kSize : 2 * kSize - 1;
  if ((around.before || place.column >= (is_aligned ? 0 : kSize - 1)) &&
      (around.behind || place.column + reach <= width)) {
    return is_aligned ? load_early(data) : load_across(data);
  }
  return load_part(data, place.begin, place.end);
}

// The same of what all rows share: it has no rows around it, and each row needs its ends.
template <typename T, int kSize>
__device__ __forceinline__ Packed load_columns(const T* columns, const Place<kSize, false>& place,
                                               int width) {
  const T* data = columns + place.column;
  if (place.column >= kSize - 1 && place.column + 2 * kSize - 1 <= width) {
    return is_aligned_to_16(data) ? load_constant(data) : load_across(data);
  }
  return load_elements(data, place.begin, place.end);
}

// To the row that vectors were laid out by: all but its ends are whole.
template <typename T, int kSize, bool kWhole>
__device__ __forceinline__ void store_vector(T* row, const Place<kSize, kWhole>& place,
                                             const Packed& packed) {
  T* data = row + place.column;
  if (kWhole || place.is_whole()) {
    store_aligned(data, packed);
  } else {
    store_part(data, packed, place.begin, place.end);
  }
}

// The larger of two numbers of which none is negative, by their bits.
struct MaxOfBits {
  __device__ __forceinline__ uint32_t operator()(uint32_t a, uint32_t b) const {
    return a < b ? b : a;
  }
};

// Over kLanes neighbours.
template <int kLanes, typename Value, typename Op>
__device__ __forceinline__ Value reduce_over_group(Value value, const Op& op) {
#if !CUDAOPS_HIP && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  // Whole numbers have an instruction of their own.
  if constexpr (std::is_same<Op, MaxOfBits>::value && kLanes == 32) {
    return __reduce_max_sync(cudaops::kAllLanes, value);
  } else
#endif
  {
    return cudaops::warp_reduce(value, op, kLanes);
  }
}

}  // namespace detail

// What the warps of a block, and the blocks of a cluster, tell each other in a reduction; twice, so
// that one barrier does.
struct RowScratch {
  static constexpr int kMaxValueBytes = 16;
  alignas(16) char warps[2][32 * kMaxValueBytes];
  alignas(16) char blocks[2][kMaxClusterSize * kMaxValueBytes];
};

// A row of kVectors vectors a thread; 0: any number, read again in each pass. kCluster: a cluster's
// row, not a block's. The last kStashed vectors of a tile are kept in shared memory.
//
// kEndsApart: the row's first two and last two vectors are four threads' own, one more for each of
// them, and what an op does with them is code of its own. The others are whole, and whatever lies
// around them belongs to the row: they need no look at its ends.
//
// kFilled: each thread has kVectors vectors besides the ends that are apart, those that the row
// doesn't have being zeros, and there is no branch round each of them. An op asks place.exists()
// before it stores.
template <typename T, int kVectors, bool kWhole, bool kCluster = false, int kStashed = 0,
          bool kEndsApart = false, bool kFilled = false>
class Row {
  static_assert(!kEndsApart || (kVectors > 0 && !kWhole && !kCluster && kStashed == 0),
                "not made for such rows");
  static_assert(!kFilled || (kVectors > 0 && (kWhole || kEndsApart) && !kCluster && kStashed == 0),
                "not made for such rows");
  static constexpr int kInRegisters = kVectors - kStashed + (kEndsApart ? 1 : 0);
  static constexpr int kNumEnds = kEndsApart ? 2 : 0;  // vectors at each end
  // Else nvcc calculates them again for each of a thread's vectors; loops have no such choice, and
  // a cluster's threads no registers to spare.
  static constexpr bool kKeepsAddresses = kVectors > 0 && !kCluster;
  static constexpr bool kGoesByVectors = kFilled && !kWhole;

 public:
  using Element = T;
  static constexpr int kSize = Vector<T>::kSize;
  static constexpr int kSlots = kVectors;
  static constexpr bool kIsWhole = kWhole;
  static constexpr bool kIsFilled = kFilled;
  // What a body gets is this or, of a row whose ends are apart, PlaceOf<true>.
  template <bool kAll>
  using PlaceOf = cudaops_kernels::Place<kSize, kAll>;
  using Place = PlaceOf<kWhole>;
  using Numbers = cudaops_kernels::Numbers<T>;

  // What load() and make() return: the row's elements, place by place; 0, or what is said to be
  // hidden, where the row has none.
  class Tile {
   public:
    Tile() = default;
    template <bool kAll>
    __device__ __forceinline__ Numbers at(const PlaceOf<kAll>& place) const {
      return unpack<T>(packed(place));
    }
    template <bool kAll>
    __device__ __forceinline__ Packed packed(const PlaceOf<kAll>& place) const {
      if constexpr (kVectors > 0) {
        return kept_packed<T>(get(place.slot));
      } else {
        Packed vector = {};
        if (shows(place)) vector = detail::load_vector(row_, place, width_, around_);
        return shows_all(place) ? vector : with_hidden(vector, place);
      }
    }
    // Whether the vector at `place` has a visible element; nothing else.
    template <bool kAll>
    __device__ __forceinline__ bool shows(const PlaceOf<kAll>& place) const {
      return place.column + place.begin < visible_;
    }
    template <bool kAll>
    __device__ __forceinline__ bool shows_all(const PlaceOf<kAll>& place) const {
      return place.is_whole() && place.column + kSize <= visible_;
    }

   private:
    friend class Row;
    __device__ __forceinline__ Tile(const Row& row, const T* data, int64_t stride)
        : row_(kKeepsAddresses ? kept_address(data) : data),
          width_(row.width_),
          around_(row.around(stride)) {
      if constexpr (kStashed > 0) stash_ = row.new_stash();
    }
    // Each thread reads only what it has written.
    __device__ __forceinline__ Packed* stashed(int slot) const {
      return stash_ + (slot - kInRegisters) * static_cast<int>(blockDim.x);
    }
    __device__ __forceinline__ Packed get(int slot) const {
      if constexpr (kStashed > 0) {
        if (slot >= kInRegisters) {
#if CUDAOPS_HAS_HOPPER
          wait_for_copies();  // here, so that an op can do something else meanwhile
#endif
          return *stashed(slot);
        }
      }
      return vectors_[slot];
    }
    __device__ __forceinline__ void set(int slot, const Packed& vector) {
      if constexpr (kStashed > 0) {
        if (slot >= kInRegisters) {
          *stashed(slot) = vector;
          return;
        }
      }
      vectors_[slot] = vector;
    }
    template <bool kAll>
    __device__ __forceinline__ Packed with_hidden(const Packed& vector,
                                                  const PlaceOf<kAll>& place) const {
      int end = place.end;
      if (place.column + end > visible_) {
        end = shows(place) ? visible_ - place.column : 0;
      }
      return masked<T>(vector, place.begin, end, hidden_);
    }

    Packed vectors_[kVectors > 0 ? kInRegisters : 1];
    Packed* stash_;
    const T* row_;
    int width_;
    int visible_ = INT_MAX - 64;  // all; a shift may be added
    float hidden_ = 0;
    detail::Around around_;
  };

  // What compute() returns: rows that no array holds. Kept where registers have room for them.
  template <typename Body>
  class Computed {
    static constexpr bool kIsKept = kVectors > 0 && kStashed == 0;

   public:
    template <bool kAll>
    __device__ __forceinline__ Numbers at(const PlaceOf<kAll>& place) const {
      return unpack<T>(packed(place));
    }
    template <bool kAll>
    __device__ __forceinline__ Packed packed(const PlaceOf<kAll>& place) const {
      if constexpr (kIsKept) {
        return kept_packed<T>(vectors_[place.slot]);
      } else {
        return pack<T>(body_(place));
      }
    }

   private:
    friend class Row;
    __device__ __forceinline__ explicit Computed(const Body& body) : body_(body) {}
    Packed vectors_[kIsKept ? kInRegisters : 1];
    Body body_;
  };

  // `scratch`: of the block; `stash`: kStashed vectors for each of its threads and each tile.
  __device__ __forceinline__ Row(int64_t index, int64_t num_rows, int64_t width, const void* anchor,
                                 RowScratch* scratch, Packed* stash = nullptr)
      : index_(index),
        num_rows_(num_rows),
        width_(static_cast<int>(width)),
        scratch_(scratch),
        stash_(stash),
        thread_(static_cast<int>(threadIdx.x)),
        exists_(index < num_rows) {
#if !CUDAOPS_HIP && CUDAOPS_DEVICE_CODE
    if constexpr (kKeepsAddresses) asm volatile("" : "+r"(thread_));
#endif
#if CUDAOPS_HAS_HOPPER
    if constexpr (kCluster) arrive_at_cluster_barrier();
#endif
    shift_ = 0;
    if constexpr (!kWhole) {
      shift_ = static_cast<int>(reinterpret_cast<uintptr_t>(anchor) % 16 / sizeof(T));
    }
    num_vectors_ = exists_ ? static_cast<int>((width + shift_ + kSize - 1) / kSize) : 0;
    if constexpr (kEndsApart) {
      // The last threads, which have less of the others.
      const int end = num_threads() - 1 - thread();
      const int num_ends = num_vectors_ < 2 * kNumEnds ? num_vectors_ : 2 * kNumEnds;
      end_vector_ = end < kNumEnds ? end : num_vectors_ - num_ends + end;
      if (end >= num_ends) end_vector_ = INT_MAX;
    }
  }

  // Which half of the scratch is free: for a row that a block takes after another.
  __device__ __forceinline__ void follow(const Row& other) { buffer_ = other.buffer_; }

  __device__ __forceinline__ int64_t index() const { return index_; }
  __device__ __forceinline__ int64_t width() const { return width_; }
  // Whether the thread stores the element at this column, in rows that lie as the anchor's.
  __device__ __forceinline__ bool owns(int64_t column) const {
    if (!exists_) return false;
    const int vector = static_cast<int>((column + shift_) / kSize);
    if constexpr (kEndsApart) {
      if (vector < kNumEnds || vector >= num_vectors_ - kNumEnds) return vector == end_vector_;
    }
    return (vector - kNumEnds) % num_threads() == thread();
  }
  // A block's last rows may be none.
  __device__ __forceinline__ bool exists() const { return exists_; }
#if CUDAOPS_HAS_HOPPER
  // At the end, for an op that has not called for a reduction: each arrival has its wait.
  __device__ __forceinline__ void leave_cluster() const {
    if (!others_run_) wait_at_cluster_barrier();
  }
#endif

  // The row's vector that is this thread's at a slot; perhaps none that there is.
  __device__ __forceinline__ int vector_at(int slot) const {
    return kNumEnds + slot * num_threads() + thread();
  }

  // Which of the row's vectors is at a place that exists.
  template <bool kAll>
  __device__ __forceinline__ int index_of(const PlaceOf<kAll>& place) const {
    if constexpr (kFilled && kAll) return vector_at(place.slot);
    return (place.column + shift_) / kSize;
  }
  __device__ __forceinline__ int num_vectors() const { return num_vectors_; }
  // Elements of the first vector before the row.
  __device__ __forceinline__ int shift() const { return shift_; }

  // For at_vector(): of an array that lies as the anchor, where the row begins; of rows that are
  // filled, where their first vector does. By vectors nvcc takes one instruction for an address, by
  // columns several.
  template <typename U>
  __device__ __forceinline__ U* first_vector(U* data) const {
    return kept_address(kGoesByVectors ? data - shift_ : data);
  }
  // The vector at a place that exists.
  template <typename U, bool kAll>
  __device__ __forceinline__ U* at_vector(U* first_vector, const PlaceOf<kAll>& place) const {
    if constexpr (!kGoesByVectors) return first_vector + place.column;
    return first_vector + int64_t{index_of(place)} * kSize;
  }
  // The same of bytes, one for each element.
  __device__ __forceinline__ uint8_t* first_byte(const Rows& rows) const {
    return first_vector(rows.template row<uint8_t>(index_));
  }

  // Whether its threads are of one warp, and a reduction takes no barrier.
  __device__ __forceinline__ bool is_in_warp() const {
    return kMaySplitWarps && blockDim.x <= kGroup;
  }

  // One thread of each row: it writes what there is once a row.
  __device__ __forceinline__ bool is_leader() const { return thread() == 0 && exists_; }

  // body(place) for each vector of this thread's.
  template <typename Body>
  __device__ __forceinline__ void each(const Body& body) const {
    each_before(num_vectors_, body);
  }
  // The same of those that have a visible element.
  template <typename Body>
  __device__ __forceinline__ void each_shown(const Tile& tile, const Body& body) const {
    each_before(num_shown(tile), body);
  }

  // All loads are issued before the first is used.
  __device__ __forceinline__ Tile load(const ConstRows& rows) const {
    Tile tile = load_ahead(rows);
    finish(tile);
    return tile;
  }
  // The same in two steps, for a row that is worked on later: finish() waits for the loads.
  __device__ __forceinline__ Tile load_ahead(const ConstRows& rows) const {
    Tile tiles[1] = {tile_of(rows)};
    if constexpr (kVectors > 0) load_all(tiles);
    return tiles[0];
  }
  __device__ __forceinline__ void finish(Tile& tile) const {
    if constexpr (kVectors > 0 && !kWhole) {
      each([&](const auto& place) {
        if (place.is_whole()) return;
        tile.set(place.slot, masked<T>(tile.get(place.slot), place.begin, place.end));
      });
    }
  }
  // Several rows at once: all of them are on their way before the first is waited for.
  template <int kCount>
  __device__ __forceinline__ void load(const ConstRows (&rows)[kCount],
                                       Tile (&tiles)[kCount]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) tiles[i] = tile_of(rows[i]);
    if constexpr (kVectors > 0) load_all(tiles);
#pragma unroll
    for (int i = 0; i < kCount; ++i) finish(tiles[i]);
  }

  // The same of the rows' first `visible` elements; the others are not read, they are `hidden`.
  template <int kCount>
  __device__ __forceinline__ void load_visible(const ConstRows (&rows)[kCount], int64_t visible,
                                               float hidden, Tile (&tiles)[kCount]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      tiles[i] = tile_of(rows[i]);
      tiles[i].visible_ = static_cast<int>(visible);
      tiles[i].hidden_ = hidden;
    }
    if constexpr (kVectors > 0) {
      load_all(tiles);
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

  // The largest of what this thread has of a tile, or of its negatives; minus infinity if nothing.
  __device__ __forceinline__ float largest(const Tile& tile, bool of_negatives = false) const {
    Largest<T> largest(-INFINITY);
    each_shown(tile, [&](const auto& place) {
      const Packed vector = tile.packed(place);
      largest.raise(of_negatives ? negated<T>(vector) : vector);
    });
    return largest.value();
  }

  // A new row, rounded to T and written to `out`, any rows: body(place) gives its numbers.
  template <typename Body>
  __device__ __forceinline__ Tile make(const Rows& out, const Body& body) const {
    Tile tile(*this, out.template row<T>(index_), out.stride);
    each([&](const auto& place) {
      const Packed vector = pack<T>(body(place));
      if constexpr (kVectors > 0) tile.set(place.slot, vector);
      if (!kFilled || place.exists()) store_anywhere(out.template row<T>(index_), place, vector);
    });
    return tile;
  }

  // A new row, rounded to T: body(place) gives its numbers, as often as they are asked for where a
  // row does not fit in registers.
  template <typename Body>
  __device__ __forceinline__ Computed<Body> compute(const Body& body) const {
    Computed<Body> computed(body);
    if constexpr (Computed<Body>::kIsKept) {
      const auto fill = [&](const auto& numbers) {
        each([&](const auto& place) { computed.vectors_[place.slot] = pack<T>(numbers(place)); });
      };
      if constexpr (kFilled) {
        with_condition_asked(body, fill);
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
    detail::store_vector(anchor.template row<T>(index_), place, pack<T>(numbers));
  }

  // What is the same for all rows, of T or float. kWhich: of the op's, so that a thread with
  // several rows can keep them.
  template <int kWhich = 0, typename U, bool kAll>
  __device__ __forceinline__ Numbers columns(const U* data, const PlaceOf<kAll>& place) const {
    Numbers numbers;
#pragma unroll
    for (int first = 0; first < kSize; first += Vector<U>::kSize) {
      const cudaops_kernels::Numbers<U> loaded = unpack<U>(packed_columns(data, place, first));
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
    Numbers vectors[kVectors > 0 ? kVectors + (kEndsApart ? 1 : 0) : 1];
    const void* data;
    DType dtype;
    float offset;
  };
  // data + offset; ones where data is null.
  __device__ __forceinline__ Columns keep_columns(const void* data, DType dtype,
                                                  float offset) const {
    Columns columns;
    columns.data = data;
    columns.dtype = dtype;
    columns.offset = offset;
    if constexpr (kVectors > 0) {
      each([&](const auto& place) { columns.vectors[place.slot] = read(columns, place); });
    }
    return columns;
  }
  template <bool kAll>
  __device__ __forceinline__ Numbers at(const Columns& columns, const PlaceOf<kAll>& place) const {
    if constexpr (kVectors > 0) return columns.vectors[place.slot];
    return read(columns, place);
  }

  // Over the row's threads; all of them get the result. Every thread of the block must call these.
  // Value: at most 16 bytes that a shuffle takes; identity: op(identity, x) is x.
  template <typename Value, typename Op>
  __device__ __forceinline__ Value reduce(Value value, const Value& identity, const Op& op) {
    static_assert(sizeof(Value) <= RowScratch::kMaxValueBytes, "no room for so large a value");
    const int block_threads = blockDim.x;
    if (kMaySplitWarps && block_threads < kGroup) {
      return cudaops::warp_reduce(value, op, block_threads);
    }
    return reduce_over_warps(detail::reduce_over_group<kGroup>(value, op), identity, op);
  }
  __device__ __forceinline__ float sum(float value) { return reduce(value, 0.0f, Add()); }
  template <int kCount>
  __device__ __forceinline__ Floats<kCount> sum(const Floats<kCount>& values) {
    return reduce(values, Floats<kCount>(), Add());
  }
  __device__ __forceinline__ float max(float value) {
    return reduce(value, -INFINITY, [](float a, float b) { return fmaxf(a, b); });
  }
  // Of numbers of which none is negative or NaN.
  __device__ __forceinline__ float max_of_magnitudes(float value) {
    return __uint_as_float(reduce(__float_as_uint(value), 0u, detail::MaxOfBits()));
  }
  // The sum of body(place) over the row. Where a row is taken by half of the threads that would
  // have four vectors each, a thread adds up what two of those would have: the same bits.
  template <typename Body>
  __device__ __forceinline__ float sum_of(const Body& body) {
    if constexpr (kFilled && kVectors == 8) {
      if (blockDim.x <= detail::kMaxThreadsByFour / 2) {
        Floats<2> halves = {};
        // Ends that are apart would be the last threads'.
        each([&](const auto& place) {
          halves[place.slot == kVectors ? 1 : place.slot % 2] += body(place);
        });
        halves = detail::reduce_over_group<kGroup>(halves, Add());
        return reduce_over_warps(halves[0] + halves[1], 0.0f, Add());
      }
    }
    float value = 0;
    each([&](const auto& place) { value += body(place); });
    return sum(value);
  }

 private:
  struct Add {
    template <typename Value>
    __device__ __forceinline__ Value operator()(const Value& a, const Value& b) const {
      return a + b;
    }
  };

  // What each warp has reduced by itself.
  template <typename Value, typename Op>
  __device__ __forceinline__ Value reduce_over_warps(Value value, const Value& identity,
                                                     const Op& op) {
    const int block_threads = blockDim.x;
    if (block_threads == kGroup) return value;
    // One barrier: a buffer is used again only after the barrier of the reduction between.
    Value* const warps = reinterpret_cast<Value*>(scratch_->warps[buffer_]);
    const int lane = threadIdx.x % kGroup, num_warps = block_threads / kGroup;
    if (lane == 0) warps[threadIdx.x / kGroup] = value;
    __syncthreads();
    const bool are_few = kFilled && num_warps <= kFewWarps;
    const int own = are_few ? lane % kFewWarps : lane;
    value = own < num_warps ? warps[own] : identity;
    // The same order of pairs, but for those that are none.
    value = are_few ? detail::reduce_over_group<kFewWarps>(value, op)
                    : detail::reduce_over_group<kGroup>(value, op);
#if CUDAOPS_HAS_HOPPER
    if constexpr (kCluster) {
      // Only when all blocks have arrived does each have its shared memory.
      if (!others_run_) wait_at_cluster_barrier();
      others_run_ = true;
      value = reduce_over_cluster(scratch_->blocks[buffer_], value, identity, op);
    }
#endif
    buffer_ ^= 1;
    return value;
  }

  template <typename Body>
  __device__ __forceinline__ void each_before(int end, const Body& body) const {
    each_inner_before(end, body);
    end_before(end, body);
  }
  // All but the ends, if those are apart.
  template <typename Body>
  __device__ __forceinline__ void each_inner_before(int end, const Body& body) const {
    if constexpr (kVectors > 0) {
      if (kEndsApart && end > num_vectors_ - kNumEnds) end = num_vectors_ - kNumEnds;
      // Of rows that are ends only nothing may be read at other places.
      if (kFilled && kEndsApart && end <= kNumEnds) return;
#pragma unroll
      for (int slot = 0; slot < kVectors; ++slot) {
        const int vector = vector_at(slot);
        if constexpr (kFilled) {
          // What is not there may read at the first.
          const bool exists = vector < end;
          const int column = exists ? vector * kSize : kNumEnds * kSize;
          body(PlaceOf<true>{slot, column - shift_, 0, exists ? kSize : 0});
          continue;
        }
        // One way out for all slots: a branch round each would cost more.
        if (vector >= end) break;
        if constexpr (kEndsApart) {
          body(PlaceOf<true>{slot, vector * kSize - shift_, 0, kSize});
        } else {
          body(place_of(slot, vector));
        }
      }
    } else {
      for (int vector = thread(); vector < end; vector += num_threads()) {
        body(place_of(0, vector));
      }
    }
  }
  template <typename Body>
  __device__ __forceinline__ void end_before(int end, const Body& body) const {
    if constexpr (kEndsApart) {
      if (end_vector_ < end) body(place_of(kVectors, end_vector_));
    }
  }

  __device__ __forceinline__ Tile tile_of(const ConstRows& rows) const {
    return Tile(*this, rows.template row<T>(index_), rows.stride);
  }

  // Rows between others are loaded without a look at their ends: a branch or a choice for each
  // vector, and the place where branches meet, would have a load wait for those before.
  template <int kCount>
  __device__ __forceinline__ void load_all(Tile (&tiles)[kCount]) const {
    bool is_inside = true, lies_as_anchor = true;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const Tile& tile = tiles[i];
      is_inside = is_inside && (kWhole || (tile.around_.before && tile.around_.behind));
      lies_as_anchor = lies_as_anchor && (kWhole || is_aligned_to_16(tile.row_ - shift_));
    }
    const auto each_vector = [&](const auto& body) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        const int shown = num_shown(tiles[i]);
        end_before(shown, [&](const auto& place) { body(i, place); });
        each_inner_before(shown, [&](const auto& place) { body(i, place); });
      }
    };
    if (is_inside && lies_as_anchor) {
      const T* first[kCount];
      if constexpr (kGoesByVectors) {
#pragma unroll
        for (int i = 0; i < kCount; ++i) first[i] = first_vector(tiles[i].row_);
      }
      each_vector([&](int i, const auto& place) {
        Tile& tile = tiles[i];
        const T* data;
        if constexpr (kGoesByVectors) {
          data = at_vector(first[i], place);
        } else {
          data = vector_of(tile.row_, place);
        }
#if CUDAOPS_HAS_HOPPER
        if (kStashed > 0 && place.slot >= kInRegisters) {
          begin_copy(shared_address(tile.stashed(place.slot)), data);
          return;
        }
#endif
        Packed vector = {};
        if (!kFilled || place.exists()) vector = load_early(data);
        tile.set(place.slot, vector);
      });
    } else if (is_inside && kEndsApart && kVectors <= 4) {
      // Both vectors of all before the first is waited for; other kernels have no registers for
      // that.
      Packed high[kCount][kEndsApart ? kInRegisters : 1];
      const auto offset_of = [&](int i) {
        return static_cast<unsigned int>(reinterpret_cast<uintptr_t>(tiles[i].row_ - shift_) % 16);
      };
      each_vector([&](int i, const auto& place) {
        Tile& tile = tiles[i];
        const T* const aligned =
            tile.row_ - shift_ - offset_of(i) / sizeof(T) + (place.column + shift_);
        tile.set(place.slot, load_early(aligned));
        high[i][place.slot] = load_early(aligned + kSize);
      });
      each_vector([&](int i, const auto& place) {
        Tile& tile = tiles[i];
        tile.set(place.slot,
                 filled(across<T>(tile.get(place.slot), high[i][place.slot], offset_of(i)), place));
      });
    } else if (is_inside) {
      each_vector([&](int i, const auto& place) {
        tiles[i].set(place.slot, filled(load_across(tiles[i].row_ + place.column), place));
      });
    } else {
      each_vector([&](int i, const auto& place) {
        Tile& tile = tiles[i];
        const T* const data = tile.row_ + place.column;
        if (kEndsApart && std::decay_t<decltype(place)>::kIsWhole) {
          tile.set(place.slot,
                   filled(is_aligned_to_16(data) ? load_early(data) : load_across(data), place));
        } else {
          tile.set(place.slot, detail::load_vector(tile.row_, place, width_, tile.around_));
        }
      });
    }
  }

  template <bool kAll>
  __device__ __forceinline__ static Packed filled(const Packed& vector,
                                                  const PlaceOf<kAll>& place) {
    Packed result = {};
    if (!kFilled || place.exists()) result = vector;
    return result;
  }

  // Vectors up to the last with a visible element.
  __device__ __forceinline__ int num_shown(const Tile& tile) const {
    const int shown = (tile.visible_ + shift_ + kSize - 1) / kSize;
    return shown < num_vectors_ ? shown : num_vectors_;
  }

  __device__ __forceinline__ Packed* new_stash() const {
    Packed* const own = stash_ + threadIdx.x;
    stash_ += kStashed * static_cast<int>(blockDim.x);
    return own;
  }

  template <bool kAll>
  __device__ __forceinline__ Numbers read(const Columns& columns,
                                          const PlaceOf<kAll>& place) const {
    if (columns.data != nullptr) {
      return this->columns(columns.data, columns.dtype, place) + columns.offset;
    }
    return map([](float) { return 1.0f; }, Numbers());
  }

  __device__ __forceinline__ detail::Around around(int64_t stride) const {
    return detail::rows_around<kSize>(index_, num_rows_, stride);
  }

  // To a row that may lie otherwise than the anchor's.
  template <bool kAll>
  __device__ __forceinline__ void store_anywhere(T* row, const PlaceOf<kAll>& place,
                                                 const Packed& packed) const {
    T* const data = row + place.column;
    const bool is_aligned = kWhole || is_aligned_to_16(data);
    const int lanes = is_aligned ? 0 : num_lanes(place);
    if (kWhole || (is_aligned && place.is_whole())) {
      store_aligned(data, packed);
    } else if (lanes > 0) {
      store_across(data, packed, place.begin, place.end, lanes);
    } else {
      store_part(data, packed, place.begin, place.end);
    }
  }

  // So many lanes of the warp, from the first on, have a vector at this slot; 0 where they aren't
  // neighbours. Where rows are shorter than a warp it is not worth it.
  template <bool kAll>
  __device__ __forceinline__ int num_lanes(const PlaceOf<kAll>& place) const {
    if (blockDim.x < kGroup || (kEndsApart && !kAll)) return 0;
    const int first =
        static_cast<int>((place.column + shift_) / kSize) - static_cast<int>(threadIdx.x % kGroup);
    const int left = num_vectors_ - kNumEnds - first;
    return left < kGroup ? left : kGroup;
  }

  // data + place.column, by vectors of rows of whole ones: nvcc takes one instruction for that, and
  // two for elements. per_place: vectors of U for one of T.
  template <typename U, bool kAll>
  __device__ __forceinline__ static U* vector_of(U* data, const PlaceOf<kAll>& place,
                                                 int per_place = 1) {
    if constexpr (!kWhole || !kFilled) return data + place.column;
    return data + int64_t{place.column / kSize * per_place} * (kSize / per_place);
  }

  __device__ __forceinline__ Place place_of(int slot, int vector) const {
    const int column = vector * kSize - shift_;
    if constexpr (kWhole) return {slot, column, 0, kSize};
    const int left = width_ - column;
    return {slot, column, column < 0 ? -column : 0, left < kSize ? left : kSize};
  }

  // From the `first`-th element of the place on: of float, kSize elements are two vectors.
  template <typename U, bool kAll>
  __device__ __forceinline__ Packed packed_columns(const U* columns, const PlaceOf<kAll>& place,
                                                   int first) const {
    constexpr int kPart = Vector<U>::kSize;
    if constexpr (kWhole) {
      return load_constant(vector_of(columns, place, kSize / kPart) + first);
    } else if constexpr (kAll) {
      // The row's first vector lies at the same offset as all others.
      const char* const start = reinterpret_cast<const char*>(columns - shift_);
      const unsigned int offset =
          static_cast<unsigned int>(reinterpret_cast<uintptr_t>(start) % 16);
      const int vector = (place.column + shift_) / kSize * (kSize / kPart) + first / kPart;
      const Packed* const aligned = reinterpret_cast<const Packed*>(start - offset) + vector;
      return across<U>(load_constant(aligned), load_constant(aligned + 1), offset);
    } else {
      const auto clamp = [](int k) { return k < 0 ? 0 : (k > kPart ? kPart : k); };
      const cudaops_kernels::Place<kPart, false> part{
          place.slot, place.column + first, clamp(place.begin - first), clamp(place.end - first)};
      if constexpr (kFilled) {
        // A row's ends are in one warp: it would go both ways.
        return load_elements(columns + part.column, part.begin, part.end);
      }
      return detail::load_columns(columns, part, width_);
    }
  }

  // Of the threads that share the row.
  __device__ __forceinline__ int thread() const {
#if CUDAOPS_HAS_HOPPER
    if constexpr (kCluster) return static_cast<int>(cluster_rank() * blockDim.x) + thread_;
#endif
    return thread_;
  }
  __device__ __forceinline__ int num_threads() const {
#if CUDAOPS_HAS_HOPPER
    if constexpr (kCluster) return static_cast<int>(cluster_size() * blockDim.x);
#endif
    return static_cast<int>(blockDim.x);
  }

  // Lanes that reduce among themselves, on GPUs with warps of 64 too: the same bits everywhere.
  static constexpr int kGroup = 32;
  static constexpr int kFewWarps = 4;
  // Only rows in registers may take less than a warp.
  static constexpr bool kMaySplitWarps = kVectors > 0 && !kCluster;

  int64_t index_;
  int64_t num_rows_;
  int width_;
  RowScratch* scratch_;
  mutable Packed* stash_;
  int num_vectors_;
  int shift_;
  int end_vector_;  // this thread's, if ends are apart; INT_MAX: none
  int thread_;
  int buffer_ = 0;
  bool exists_;
  bool others_run_ = false;
};

// ---------------------------------------------------------------------------------------------------
// Launching

struct RowGrid {
  int64_t num_rows;
  int64_t width;
  Rows anchor;  // whose multiples of 16 bytes vectors are laid at
};

namespace detail {

constexpr int kMaxRowThreads = 512;  // leaves a thread 128 registers

// At most; of rows that start and end anywhere in a vector where they are not aligned.
template <int64_t kSize>
int64_t num_vectors(int64_t width, bool aligned) {
  if (width > INT_MAX - 1024) {
    throw std::runtime_error("wanted rows of less than 2^31 - 1024 elements, found longer ones.");
  }
  return (width + (aligned ? 1 : 2) * (kSize - 1)) / kSize;
}

template <bool kOnlyWhole, typename Op>
bool rows_are_whole(const RowGrid& grid, bool aligned) {
  return kOnlyWhole || (aligned && grid.width % Vector<typename Op::Element>::kSize == 0);
}

// Whether op allows for rows that are filled: Op::kFillsRows.
template <typename Op, typename = void>
constexpr bool kAllowsFilled = false;
template <typename Op>
constexpr bool kAllowsFilled<Op, std::enable_if_t<Op::kFillsRows>> = true;

// Where loads that come late, of columns or of vectors in two parts, gain by being on their way
// together, and there are registers for it. Whole rows of float or of two tiles wait for memory
// rather than for instructions, and need the warps (measured on an H200).
template <typename Op, int kVectors, bool kWhole>
CUDAOPS_HOST_DEVICE constexpr bool fills_rows() {
  if constexpr (!kAllowsFilled<Op> || kVectors == 0) {
    return false;
  } else if (!kWhole && kVectors == 4) {
    return Op::kReadsColumns || Op::kNumTiles > 1;
  } else {
    return Op::kReadsColumns && Op::kNumTiles == 1 && sizeof(typename Op::Element) < 4;
  }
}

// Whether a row of so many threads with four vectors each is taken by half of them: as
// Row::sum_of() adds, where the warps that it is of are a power of two.
template <typename Op>
bool takes_halves(int64_t threads_by_four) {
  static_assert(fills_rows<Op, 8, true>() == fills_rows<Op, 8, false>(), "asked of both");
  return fills_rows<Op, 8, true>() && (threads_by_four == 64 || threads_by_four == 128);
}

// For __launch_bounds__. Without branches the compiler would have so many loads on their way that
// there is room for half of the warps only. 1 allows for as many registers as nothing, 0, but makes
// nvcc choose others: fewer of those for two tiles, up to a quarter more elsewhere. Two filled
// tiles without columns are better with twice the warps, though nvcc spills for it (measured on an
// H200).
template <typename Op, int kVectors, bool kWhole>
CUDAOPS_HOST_DEVICE constexpr int min_row_blocks() {
  if constexpr (fills_rows<Op, kVectors, kWhole>()) {
    return Op::kNumTiles == 1 || !Op::kReadsColumns ? 2 : 1;
  } else {
    return Op::kNumTiles > 1 && kVectors == 4 && !kWhole ? 1 : 0;
  }
}

template <typename Op, int kVectors, bool kWhole>
__global__ void __launch_bounds__(kMaxRowThreads, (min_row_blocks<Op, kVectors, kWhole>()))
    rows_kernel(const Op op, const RowGrid grid) {
  using T = typename Op::Element;
  __shared__ RowScratch scratch;
  const int64_t index = int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  Row<T, kVectors, kWhole, false, 0, !kWhole && (kVectors > 0), fills_rows<Op, kVectors, kWhole>()>
      row(index, grid.num_rows, grid.width, grid.anchor.template row<T>(index), &scratch);
  op(row);
}

// Whether op needs shared memory for the rows of a block, op.stage_bytes(rows). It is only for rows
// that a block has registers for.
template <typename Op, typename = void>
constexpr bool kHasStage = false;
template <typename Op>
constexpr bool kHasStage<Op, std::void_t<decltype(&Op::stage_bytes)>> = true;

template <bool kOnlyWhole, int kVectors, typename Op>
void launch_rows(const Op& op, const RowGrid& grid, bool aligned, int64_t num_threads,
                 cudaStream_t stream) {
  // A block of rows that take a warp or less has two warps: it makes room for the next sooner.
  const int num_rows = static_cast<int>(num_threads <= 32 ? 64 / num_threads : 1);
  const dim3 block(static_cast<unsigned int>(num_threads), num_rows);
  const unsigned int blocks = num_blocks(grid.num_rows, num_rows);
  size_t stage_bytes = 0;
  if constexpr (kHasStage<Op>) stage_bytes = op.stage_bytes(num_rows);
  if (rows_are_whole<kOnlyWhole, Op>(grid, aligned)) {
    rows_kernel<Op, kVectors, true><<<blocks, block, stage_bytes, stream>>>(op, grid);
  } else if constexpr (!kOnlyWhole) {
    rows_kernel<Op, kVectors, false><<<blocks, block, stage_bytes, stream>>>(op, grid);
  }
  CUDAOPS_CHECK_LAUNCH();
}

#if !CUDAOPS_HIP

// Of a cluster's row; more than a thread has registers for stand in shared memory, so that more
// bytes are on their way while others wait for their cluster. Not where columns are read for each
// row: they come from the L1 cache, which is the same memory.
template <typename Op>
constexpr bool kHasStash = Op::kNumTiles <= 2 && !Op::kReadsColumns;
template <typename Op>
constexpr int kStashedVectors = kHasStash<Op> ? (Op::kNumTiles == 1 ? 8 : 4) : 0;
template <typename Op>
constexpr int kClusterVectors = (Op::kNumTiles == 1 ? 8 : 4) + kStashedVectors<Op>;
// Two tiles may make a third.
template <typename Op>
constexpr int kNumStashes = Op::kNumTiles == 2 ? 3 : 1;

// Several blocks of a multiprocessor take turns at loading and storing, as far as registers allow.
template <typename Op, bool kWhole>
__global__ void __launch_bounds__(kMaxRowThreads, Op::kNumTiles > 2 ? 1 : 2)
    cluster_rows_kernel(const Op op, const RowGrid grid) {
#if CUDAOPS_HAS_HOPPER
  using T = typename Op::Element;
  __shared__ RowScratch scratch;
  extern __shared__ Packed stash[];
  const int64_t index = blockIdx.x / cluster_size();
  Row<T, kClusterVectors<Op>, kWhole, true, kStashedVectors<Op>> row(
      index, grid.num_rows, grid.width, grid.anchor.template row<T>(index), &scratch, stash);
  op(row);
  row.leave_cluster();
#endif
}

// False where rows are too long or this device's code in the binary has no clusters.
template <typename Op, bool kWhole>
bool launch_cluster_rows(const Op& op, const RowGrid& grid, int64_t num_vectors,
                         cudaStream_t stream) {
  constexpr int64_t kVectors = kClusterVectors<Op>;
  // Half of the threads a block while there are blocks enough: many small ones overlap better.
  unsigned int size = 2;
  while (size < kMaxClusterSize && size * kVectors * kMaxRowThreads / 2 < num_vectors) size *= 2;
  const auto kernel = cluster_rows_kernel<Op, kWhole>;
  static int known[64];
  if (size * kVectors * kMaxRowThreads < num_vectors) return false;
  if (!is_compiled_for_hopper(kernel, known)) return false;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = size;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(num_blocks(grid.num_rows * size, 1));
  config.blockDim = dim3(static_cast<unsigned int>((num_vectors + 32 * kVectors * size - 1) /
                                                   (32 * kVectors * size) * 32));
  config.dynamicSmemBytes =
      kNumStashes<Op> * kStashedVectors<Op> * config.blockDim.x * sizeof(Packed);
  CUDAOPS_CHECK(
      cudaops::allow_dynamic_shared_memory(kernel, static_cast<int>(config.dynamicSmemBytes)));
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CUDAOPS_CHECK(cudaLaunchKernelEx(&config, kernel, op, grid));
  return true;
}

#endif

}  // namespace detail

// Whether all rows start at multiples of 16 bytes.
template <typename T>
bool rows_are_aligned(const void* data, int64_t stride) {
  return reinterpret_cast<uintptr_t>(data) % 16 == 0 && stride % Vector<T>::kSize == 0;
}
template <typename T>
bool rows_are_aligned(const ConstRows& rows) {
  return rows.data == nullptr || rows_are_aligned<T>(rows.data, rows.stride);
}
template <typename T>
bool rows_are_aligned(const Rows& rows) {
  return rows.data == nullptr || rows_are_aligned<T>(rows.data, rows.stride);
}

// For rows that are known to be longer than what a block has registers for. `aligned`:
// rows_are_aligned() of everything that op touches. kOnlyWhole: it always is, and rows have whole
// vectors; most of what there is to compile is for other rows.
template <bool kOnlyWhole = false, typename Op>
void launch_long_rows(const Op& op, const RowGrid& grid, bool aligned, cudaStream_t stream) {
  if (grid.num_rows == 0) return;  // a grid of 0 blocks is a launch error
#if !CUDAOPS_HIP
  if constexpr (Op::kNumTiles > 0) {
    constexpr int64_t kSize = Vector<typename Op::Element>::kSize;
    const int64_t num_vectors = detail::num_vectors<kSize>(grid.width, aligned);
    if (detail::rows_are_whole<kOnlyWhole, Op>(grid, aligned)) {
      if (detail::launch_cluster_rows<Op, true>(op, grid, num_vectors, stream)) return;
    } else if constexpr (!kOnlyWhole) {
      if (detail::launch_cluster_rows<Op, false>(op, grid, num_vectors, stream)) return;
    }
  }
#endif
  detail::launch_rows<kOnlyWhole, 0>(op, grid, aligned, detail::kMaxRowThreads, stream);
}

template <bool kOnlyWhole = false, typename Op>
void launch_rows(const Op& op, const RowGrid& grid, bool aligned, cudaStream_t stream) {
  if (grid.num_rows == 0) return;
  constexpr int64_t kSize = Vector<typename Op::Element>::kSize;
  const int64_t num_vectors = detail::num_vectors<kSize>(grid.width, aligned);
  // Ends are apart where rows aren't whole.
  const bool is_whole = detail::rows_are_whole<kOnlyWhole, Op>(grid, aligned);
  if constexpr (detail::kTakesSpans<Op>) {
    if (!is_whole && detail::rows_are_spans(op, grid.width, detail::kLeastGoodOfWarp)) {
      detail::launch_row_spans(op, grid.num_rows, grid.width, stream);
      return;
    }
  }
  const int64_t num_inner = is_whole ? num_vectors : (num_vectors > 5 ? num_vectors - 4 : 1);
  const auto whole_warps = [&](int per_thread) {
    return (num_inner + 32 * per_thread - 1) / (32 * per_thread) * 32;
  };
  if (num_vectors <= 128) {
    int64_t num_threads = is_whole ? 1 : (num_vectors > 2 ? 4 : 2);
    while (4 * num_threads < num_inner) num_threads *= 2;
    detail::launch_rows<kOnlyWhole, 4>(op, grid, aligned, num_threads, stream);
    return;
  }
  if constexpr (Op::kNumTiles > 0) {
    // Eight vectors a thread take less for a row's sums; of two tiles they leave too few registers,
    // and rows that aren't whole are more often faster with four (measured on an H200).
    const bool prefers_eight = Op::kNumTiles == 1 && is_whole;
    const int most_by_four = prefers_eight ? detail::kMaxThreadsByFour : detail::kMaxRowThreads;
    if (num_inner <= 4 * most_by_four && !detail::takes_halves<Op>(whole_warps(4))) {
      detail::launch_rows<kOnlyWhole, 4>(op, grid, aligned, whole_warps(4), stream);
    } else if (num_inner <= 8 * detail::kMaxRowThreads) {
      detail::launch_rows<kOnlyWhole, 8>(op, grid, aligned, whole_warps(8), stream);
    } else if constexpr (detail::kHasStage<Op>) {
      throw std::runtime_error("wanted rows that a block has registers for, found longer ones.");
    } else {
      launch_long_rows<kOnlyWhole>(op, grid, aligned, stream);
    }
  } else {
    const int64_t num_threads = whole_warps(4);
    detail::launch_rows<kOnlyWhole, 0>(
        op, grid, aligned,
        num_threads < detail::kMaxRowThreads ? num_threads : detail::kMaxRowThreads, stream);
  }
}

}  // namespace cudaops_kernels
