// SPDX-License-Identifier: Apache-2.0
// The engine of all ops that reduce over rows. An op says what happens to one row, in the order of
// its formula; the engine spreads rows over threads, keeps a row in registers while it fits, and
// reads and writes 16 bytes at a time at any width and alignment.
//
//   template <typename T>
//   struct Scale {  // rows divided by their largest element
//     using Element = T;
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
// of one, up to 4096 to a block; longer rows are read again for each pass. Short-lived blocks with
// one row each keep more loads in flight than a persistent grid does.
//
// Alignment: vectors lie where the *output's* row has its multiples of 16 bytes (RowGrid's anchor),
// so that stores are always whole; a row that starts elsewhere has a shorter first and last vector.
// Inputs that lie differently are put together from two aligned loads, of which the second comes
// from the cache.
#pragma once

#include <cuda_runtime.h>
#include <cudaops/check.h>

#include <cmath>

#include "rows.h"
#include "vectors.cuh"

namespace cudaops_kernels {

// One vector of a row: element k is the row's element column + k, for begin <= k < end.
template <int kElements, bool kWhole>
struct Place {
  static constexpr int kSize = kElements;
  int slot;        // which of the thread's vectors
  int64_t column;  // below 0 where the row starts within the vector
  int begin;
  int end;
  __device__ __forceinline__ bool is_whole() const { return kWhole || end - begin == kSize; }
  __device__ __forceinline__ bool holds(int k) const { return kWhole || (k >= begin && k < end); }
};

namespace detail {

// Whether two vectors before and behind a row may be read: what lies there belongs to other rows,
// except near the ends of the array.
struct Around {
  bool before;
  bool behind;
};

// The vector at row[place.column].
template <typename T, int kSize, bool kWhole>
__device__ __forceinline__ Packed load_vector(const T* row, const Place<kSize, kWhole>& place,
                                              int64_t width, const Around& around) {
  static_assert(kSize == Vector<T>::kSize, "a vector of another type's size");
  const T* data = row + place.column;
  if constexpr (kWhole) return load_early(data);
  const bool is_aligned = is_aligned_to_16(data);
  const int64_t reach = is_aligned ? kSize : 2 * kSize - 1;
  if ((around.before || place.column >= (is_aligned ? 0 : kSize - 1)) &&
      (around.behind || place.column + reach <= width)) {
    const Packed packed = is_aligned ? load_early(data) : load_across(data);
    return place.is_whole() ? packed : masked<T>(packed, place.begin, place.end);
  }
  return load_part(data, place.begin, place.end);
}

// The same of what all rows share: it has no rows around it, and each row needs its ends.
template <typename T, int kSize, bool kWhole>
__device__ __forceinline__ Packed load_columns(const T* columns, const Place<kSize, kWhole>& place,
                                               int64_t width) {
  const T* data = columns + place.column;
  if constexpr (kWhole) return load_aligned(data);
  if (place.column >= kSize - 1 && place.column + 2 * kSize - 1 <= width) {
    return is_aligned_to_16(data) ? load_aligned(data) : load_across(data);
  }
  return load_elements(data, place.begin, place.end);
}

// `num_lanes`: so many lanes of the warp, from the first on, store a vector of this row at once; 0
// if that is not known.
template <typename T, int kSize, bool kWhole>
__device__ __forceinline__ void store_vector(T* row, const Place<kSize, kWhole>& place,
                                             const Packed& packed, int num_lanes) {
  T* data = row + place.column;
  if (kWhole || (place.is_whole() && is_aligned_to_16(data))) {
    store_aligned(data, packed);
  } else if (num_lanes > 0 && !is_aligned_to_16(data)) {
    store_across(data, packed, place.begin, place.end, num_lanes);
  } else {
    store_part(data, packed, place.begin, place.end);
  }
}

}  // namespace detail

// A row of kVectors vectors a thread; 0: any number, read again in each pass.
template <typename T, int kVectors, bool kWhole>
class Row {
 public:
  static constexpr int kSize = Vector<T>::kSize;
  using Place = cudaops_kernels::Place<kSize, kWhole>;
  using Numbers = cudaops_kernels::Numbers<T>;

  // What load() and make() return: the row's elements, place by place.
  class Tile {
   public:
    __device__ __forceinline__ Numbers at(const Place& place) const {
      if constexpr (kVectors > 0) {
        return unpack<T>(kept_packed<T>(vectors_[place.slot]));
      } else {
        return unpack<T>(detail::load_vector(row_, place, width_, around_));
      }
    }

   private:
    friend class Row;
    Packed vectors_[kVectors > 0 ? kVectors : 1];
    const T* row_;
    int64_t width_;
    detail::Around around_;
  };

  // `scratch`: of the block, 2 * 32 floats.
  __device__ __forceinline__ Row(int64_t index, int64_t num_rows, int64_t width, const void* anchor,
                                 float* scratch)
      : index_(index),
        num_rows_(num_rows),
        width_(width),
        scratch_(scratch),
        exists_(index < num_rows) {
    shift_ = 0;
    if constexpr (!kWhole) {
      shift_ = static_cast<int>(reinterpret_cast<uintptr_t>(anchor) % 16 / sizeof(T));
    }
    num_vectors_ = exists_ ? static_cast<int>((width + shift_ + kSize - 1) / kSize) : 0;
  }

  // Which half of the scratch is free: for a row that a block takes after another.
  __device__ __forceinline__ void follow(const Row& other) {
    scratch_ = other.scratch_;
    is_second_ = other.is_second_;
  }

  __device__ __forceinline__ int64_t index() const { return index_; }
  __device__ __forceinline__ int64_t width() const { return width_; }
  // One thread of each row: it writes what there is once a row.
  __device__ __forceinline__ bool is_leader() const { return threadIdx.x == 0 && exists_; }

  // body(place) for each vector of this thread's.
  template <typename Body>
  __device__ __forceinline__ void each(const Body& body) const {
    if constexpr (kVectors > 0) {
#pragma unroll
      for (int slot = 0; slot < kVectors; ++slot) {
        const int vector = slot * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x);
        if (vector < num_vectors_) body(place_of(slot, vector));
      }
    } else {
      for (int vector = threadIdx.x; vector < num_vectors_; vector += blockDim.x) {
        body(place_of(0, vector));
      }
    }
  }

  // All loads are issued before the first is used.
  __device__ __forceinline__ Tile load(const ConstRows& rows) const {
    Tile tile;
    tile.row_ = rows.template row<T>(index_);
    tile.width_ = width_;
    tile.around_ = around(rows.stride);
    if constexpr (kVectors > 0) {
      each([&](const Place& place) {
        tile.vectors_[place.slot] = detail::load_vector(tile.row_, place, width_, tile.around_);
      });
    }
    return tile;
  }

  // A new row, rounded to T and written to `out`: body(place) gives its numbers.
  template <typename Body>
  __device__ __forceinline__ Tile make(const Rows& out, const Body& body) const {
    Tile tile;
    tile.row_ = out.template row<T>(index_);
    tile.width_ = width_;
    tile.around_ = around(out.stride);
    each([&](const Place& place) {
      const Packed vector = pack<T>(body(place));
      if constexpr (kVectors > 0) tile.vectors_[place.slot] = vector;
      detail::store_vector(out.template row<T>(index_), place, vector, num_lanes(place));
    });
    return tile;
  }

  __device__ __forceinline__ void store(const Rows& rows, const Place& place,
                                        const Numbers& numbers) const {
    detail::store_vector(rows.template row<T>(index_), place, pack<T>(numbers), num_lanes(place));
  }

  // What is the same for all rows, of T or float.
  __device__ __forceinline__ Numbers columns(const void* data, DType dtype,
                                             const Place& place) const {
    if (sizeof(T) < 4 && dtype == DType::kFloat32) return float_columns(data, place);
    return unpack<T>(detail::load_columns(static_cast<const T*>(data), place, width_));
  }

  // The same for a thread that comes to its columns again and again: kept in registers.
  struct Columns {
    Numbers vectors[kVectors > 0 ? kVectors : 1];
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
      each([&](const Place& place) { columns.vectors[place.slot] = read(columns, place); });
    }
    return columns;
  }
  __device__ __forceinline__ Numbers at(const Columns& columns, const Place& place) const {
    if constexpr (kVectors > 0) return columns.vectors[place.slot];
    return read(columns, place);
  }

  // Over the row's threads; all of them get the result. Every thread of the block must call these.
  __device__ __forceinline__ float sum(float value) {
    return reduce(value, 0.0f, [](float a, float b) { return a + b; });
  }
  template <int kCount>
  __device__ __forceinline__ Floats<kCount> sum(Floats<kCount> values) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) values[i] = sum(values[i]);
    return values;
  }
  __device__ __forceinline__ float max(float value) {
    return reduce(value, -INFINITY, [](float a, float b) { return fmaxf(a, b); });
  }

 private:
  __device__ __forceinline__ Numbers read(const Columns& columns, const Place& place) const {
    if (columns.data != nullptr) {
      return this->columns(columns.data, columns.dtype, place) + columns.offset;
    }
    return map([](float) { return 1.0f; }, Numbers());
  }

  // Two vectors' worth of other rows on this side and that?
  __device__ __forceinline__ detail::Around around(int64_t stride) const {
    return {index_ * stride >= 2 * kSize, (num_rows_ - 1 - index_) * stride >= 2 * kSize};
  }

  // Lanes with a vector beside this one's. Where rows are shorter than a warp it is not worth it.
  __device__ __forceinline__ int num_lanes(const Place& place) const {
    if (kWhole || blockDim.x < kGroup) return 0;
    const int first =
        static_cast<int>((place.column + shift_) / kSize) - static_cast<int>(threadIdx.x % kGroup);
    return num_vectors_ - first < kGroup ? num_vectors_ - first : kGroup;
  }

  __device__ __forceinline__ Place place_of(int slot, int vector) const {
    const int64_t column = int64_t{vector} * kSize - shift_;
    if constexpr (kWhole) return {slot, column, 0, kSize};
    const int begin = column < 0 ? static_cast<int>(-column) : 0;
    const int64_t left = width_ - column;
    return {slot, column, begin, left < kSize ? static_cast<int>(left) : kSize};
  }

  // In vectors of float: kSize of them are two.
  __device__ __forceinline__ Numbers float_columns(const void* data, const Place& place) const {
    const float* columns = static_cast<const float*>(data);
    Numbers numbers;
#pragma unroll
    for (int first = 0; first < kSize; first += Vector<float>::kSize) {
      constexpr int kFloats = Vector<float>::kSize;
      const auto clamp = [](int k) { return k < 0 ? 0 : (k > kFloats ? kFloats : k); };
      const cudaops_kernels::Place<kFloats, kWhole> part{
          place.slot, place.column + first, clamp(place.begin - first), clamp(place.end - first)};
      const Floats<kFloats> loaded = unpack<float>(detail::load_columns(columns, part, width_));
#pragma unroll
      for (int k = 0; k < kFloats; ++k) numbers[first + k] = loaded[k];
    }
    return numbers;
  }

  // One barrier: a buffer is used again only after the barrier of the reduction between.
  template <typename Op>
  __device__ __forceinline__ float reduce(float value, float identity, const Op& op) {
    const int num_threads = blockDim.x;
    value = cudaops::warp_reduce(value, op, num_threads < kGroup ? num_threads : kGroup);
    if (num_threads <= kGroup) return value;
    const int lane = threadIdx.x % kGroup;
    if (lane == 0) scratch_[threadIdx.x / kGroup] = value;
    __syncthreads();
    value = lane < num_threads / kGroup ? scratch_[lane] : identity;
    scratch_ += is_second_ ? -kGroup : kGroup;
    is_second_ = !is_second_;
    return cudaops::warp_reduce(value, op, kGroup);
  }

  // Lanes that reduce among themselves, on GPUs with warps of 64 too: the same bits everywhere.
  static constexpr int kGroup = 32;

  int64_t index_;
  int64_t num_rows_;
  int64_t width_;
  float* scratch_;
  int num_vectors_;
  int shift_;
  bool exists_;
  bool is_second_ = false;
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

template <typename Op, int kVectors, bool kWhole>
__global__ void __launch_bounds__(kMaxRowThreads) rows_kernel(const Op op, const RowGrid grid) {
  using T = typename Op::Element;
  __shared__ float scratch[2 * 32];
  const int64_t index = int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  Row<T, kVectors, kWhole> row(index, grid.num_rows, grid.width, grid.anchor.template row<T>(index),
                               scratch);
  op(row);
}

template <typename Op, int kVectors>
void launch_rows(const Op& op, const RowGrid& grid, bool aligned, int64_t num_threads,
                 cudaStream_t stream) {
  // Where a row takes less than a warp, a block has several.
  const int num_rows = static_cast<int>(num_threads <= 32 ? 128 / num_threads : 1);
  const dim3 block(static_cast<unsigned int>(num_threads), num_rows);
  const unsigned int blocks = num_blocks(grid.num_rows, num_rows);
  if (aligned && grid.width % Vector<typename Op::Element>::kSize == 0) {
    rows_kernel<Op, kVectors, true><<<blocks, block, 0, stream>>>(op, grid);
  } else {
    rows_kernel<Op, kVectors, false><<<blocks, block, 0, stream>>>(op, grid);
  }
  CUDAOPS_CHECK_LAUNCH();
}

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

// `aligned`: rows_are_aligned() of everything that op touches.
template <typename Op>
void launch_rows(const Op& op, const RowGrid& grid, bool aligned, cudaStream_t stream) {
  if (grid.num_rows == 0) return;  // a grid of 0 blocks is a launch error
  constexpr int64_t kSize = Vector<typename Op::Element>::kSize;
  // Of a row that starts within a vector and ends within one.
  const int64_t num_vectors = (grid.width + (aligned ? 1 : 2) * (kSize - 1)) / kSize;
  const auto whole_warps = [&](int per_thread) {
    return (num_vectors + 32 * per_thread - 1) / (32 * per_thread) * 32;
  };
  if (num_vectors <= 128) {
    int64_t num_threads = 1;
    while (4 * num_threads < num_vectors) num_threads *= 2;
    detail::launch_rows<Op, 4>(op, grid, aligned, num_threads, stream);
  } else if (num_vectors <= 4 * detail::kMaxRowThreads) {
    detail::launch_rows<Op, 4>(op, grid, aligned, whole_warps(4), stream);
  } else if (num_vectors <= 8 * detail::kMaxRowThreads) {
    detail::launch_rows<Op, 8>(op, grid, aligned, whole_warps(8), stream);
  } else {
    detail::launch_rows<Op, 0>(op, grid, aligned, detail::kMaxRowThreads, stream);
  }
}

// The same for rows that are known to be longer than what fits in registers.
template <typename Op>
void launch_long_rows(const Op& op, const RowGrid& grid, bool aligned, cudaStream_t stream) {
  if (grid.num_rows > 0) {
    detail::launch_rows<Op, 0>(op, grid, aligned, detail::kMaxRowThreads, stream);
  }
}

}  // namespace cudaops_kernels
