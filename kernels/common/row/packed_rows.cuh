// SPDX-License-Identifier: Apache-2.0
// Packed short rows: rows of 33 to 256 elements without gaps between them that aren't whole
// vectors.
//
// Each of them starts at another offset within a vector; but kPackedRows of them are as many whole
// vectors as a row has elements. A warp stages so many in shared memory: vectors in and out, and
// between them element by element, where a lane's are kLanes columns apart. So a warp's accesses
// are contiguous wherever a row starts, no row has ends to look at, and columns that all rows share
// need no funnel shift.
//
// An op takes part by naming its arrays, in which every element of a row is written by the thread
// that has read it:
//     static constexpr int kNumInputs = 1;
//     static constexpr int kNumOutputs = 1;
//     ConstRows input(int i) const;  // on the host too
//     Rows output(int i) const;
// One that writes bytes, one for each element, names those too:
//     Rows bytes() const;
// Its code is the same as for other rows: PackedRow has the functions of row.h.
#pragma once

#include <cuda_runtime.h>
#include <cudaops/check.h>

#include <cmath>

#include "../hopper.cuh"
#include "../unaligned.cuh"
#include "block_reduce.cuh"
#include "row.h"
#include "tuning_sm90.h"

namespace cudaops_kernels {

using detail::kCertainElements;
using detail::kPackedElements;
using detail::kPackedThreads;
using detail::kPackedWarps;
// After so many the next one starts with a vector again.
template <typename T>
constexpr int kPackedRows = Vector<T>::kSize;

// A lane's elements of a row: element k is in column column_at(k). kPads: none where there is no
// row.
template <int kLanes, bool kPads>
struct PackedPlace {
  static constexpr int kSize = kPackedElements, kCertain = kPads ? 0 : kCertainElements;
  static constexpr bool kIsWhole = false;
  static constexpr int slot = 0;
  int first;
  int left;  // columns from there to the row's end
  __device__ __forceinline__ int column_at(int k) const { return first + k * kLanes; }
  __device__ __forceinline__ bool holds(int k) const { return k < kCertain || k * kLanes < left; }
  // To look at each element is less than to branch: whole ones are not known as such.
  __device__ __forceinline__ static constexpr bool is_whole() { return false; }
};

namespace detail {

// Optional: bytes().
template <typename Op, typename = void>
constexpr bool kWritesBytes = false;
template <typename Op>
constexpr bool kWritesBytes<Op, std::void_t<decltype(&Op::bytes)>> = true;

}  // namespace detail

// The rows that a warp has at once: where they are in each array, and in shared memory, array
// behind array. What an op writes takes the place of what it has read.
template <typename T>
class PackedRows {
 public:
  // `stage`: `width` vectors for each array.
  __device__ __forceinline__ PackedRows(Packed* stage, int64_t first_row, int64_t num_rows,
                                        int width)
      : stage_(stage), first_row_(first_row), width_(width) {
    const int64_t left = num_rows - first_row;
    num_rows_ = left < kPackedRows<T> ? static_cast<int>(left) : kPackedRows<T>;
  }

  __device__ __forceinline__ int64_t first_row() const { return first_row_; }
  __device__ __forceinline__ int num_rows() const { return num_rows_; }
  __device__ __forceinline__ int width() const { return width_; }

  // In shared memory.
  __device__ __forceinline__ T* row(int array, int row) const {
    return reinterpret_cast<T*>(stage_ + array * width_) + row * width_;
  }

  // Bytes take the place of an array's rows: those of a row are in front of what is still to be
  // read when they are written.
  __device__ __forceinline__ uint8_t* bytes(int array, int row) const {
    return reinterpret_cast<uint8_t*>(stage_ + array * width_) + row * width_;
  }

  // To be waited for; all arrays are in flight at once.
  __device__ __forceinline__ void load(int array, const ConstRows& rows) const {
    const T* const from = rows.row<T>(first_row_);
    T* const to = row(array, 0);
    each_vector([&](int k) {
#if CUDAOPS_HAS_HOPPER
      begin_copy(shared_address(to + k), from + k);
#else
      *reinterpret_cast<Packed*>(to + k) = load_aligned(from + k);
#endif
    });
    each_leftover([&](int k) { to[k] = from[k]; });
  }
  __device__ __forceinline__ void wait() const {
#if CUDAOPS_HAS_HOPPER
    wait_for_copies();
#endif
    cudaops::sync_warp();
  }
  // When all lanes have written what they have to.
  __device__ __forceinline__ void store(int array, const Rows& rows) const {
    T* const to = rows.row<T>(first_row_);
    const T* const from = row(array, 0);
    each_vector([&](int k) { store_aligned(to + k, load_aligned(from + k)); });
    each_leftover([&](int k) { to[k] = from[k]; });
  }
  __device__ __forceinline__ void store_bytes(int array, const Rows& rows) const {
    using Vector = Bytes<cudaops_kernels::Vector<T>::kSize>;
    uint8_t* const to = rows.row<uint8_t>(first_row_);
    const uint8_t* const from = bytes(array, 0);
    each_vector([&](int k) { store_aligned(to + k, load_aligned<Vector>(from + k)); });
    each_leftover([&](int k) { to[k] = from[k]; });
  }

 private:
  // Only the array's last rows may end within a vector: nothing may be read or written behind it.
  template <typename Body>
  __device__ __forceinline__ void each_vector(const Body& body) const {
    constexpr int kSize = Vector<T>::kSize;
#pragma unroll 4
    for (int k = cudaops::lane_id() % 32 * kSize; k + kSize <= num_rows_ * width_;
         k += 32 * kSize) {
      body(k);
    }
  }
  template <typename Body>
  __device__ __forceinline__ void each_leftover(const Body& body) const {
    constexpr int kSize = Vector<T>::kSize;
    const int num = num_rows_ * width_, k = num / kSize * kSize + cudaops::lane_id() % 32;
    if (k < num) body(k);
  }

  Packed* stage_;
  int64_t first_row_;
  int width_;
  int num_rows_;
};

// One of them, kLanes threads' own. What the functions do is said in row.h. A row that is none
// has zeros where kPads, else whatever is in shared memory; nothing of it goes to an array.
template <typename T, int kLanes, int kNumInputs, int kNumOutputs, bool kPads>
class PackedRow {
 public:
  using Element = T;
  using Place = PackedPlace<kLanes, kPads>;
  using Numbers = Floats<kPackedElements>;
  static constexpr int kSize = kPackedElements;
  static constexpr int kSlots = 1;
  static constexpr bool kKeepsAddresses = false;
  static constexpr int kVirtual = 1;
  static constexpr bool kIsWhole = false;
  static constexpr bool kIsPacked = true, kUnpacksApart = false;
  static constexpr int kWords = kSize * static_cast<int>(sizeof(T)) / 4;
  template <typename Value>
  using Shares = cudaops_kernels::Shares<Value, kVirtual, kSlots>;

  class Tile {
   public:
    __device__ __forceinline__ Numbers at(const Place&) const { return numbers_; }
    __device__ __forceinline__ bool shows(const Place& place) const {
      return place.first < visible_;
    }

   private:
    friend class PackedRow;
    Numbers numbers_;
    int visible_;
  };

  struct Columns {
    Numbers numbers;
  };

  // The thread's first row of those; it is none where there are fewer.
  template <typename Op>
  __device__ __forceinline__ PackedRow(const Op& op, const PackedRows<T>& rows)
      : index_(rows.first_row() + own_place()),
        rows_left_(rows.num_rows() - own_place()),
        width_(rows.width()) {
#pragma unroll
    for (int i = 0; i < kNumInputs; ++i) {
      inputs_[i] = {op.input(i).data, rows.row(i, own_place()) + threadIdx.x};
    }
#pragma unroll
    for (int i = 0; i < kNumOutputs; ++i) {
      outputs_[i] = {op.output(i).data, rows.row(i, own_place()) + threadIdx.x};
    }
    if constexpr (detail::kWritesBytes<Op>) {
      bytes_ = rows.bytes(kNumInputs - 1, own_place()) + threadIdx.x;
    }
  }

  // So many rows of a warp are worked on at once, and so many times.
  static constexpr int kAtOnce = 32 / kLanes;
  static constexpr int kSteps = kPackedRows<T> / kAtOnce;
  __device__ __forceinline__ static int own_place() {
    return static_cast<int>(threadIdx.y) % kAtOnce;
  }
  // The thread's next row.
  __device__ __forceinline__ void advance() {
    is_first_ = false;
    index_ += kAtOnce;
    rows_left_ -= kAtOnce;
#pragma unroll
    for (int i = 0; i < kNumInputs; ++i) inputs_[i].own += kAtOnce * width_;
#pragma unroll
    for (int i = 0; i < kNumOutputs; ++i) outputs_[i].own += kAtOnce * width_;
    bytes_ += kAtOnce * width_;
  }

  __device__ __forceinline__ int64_t index() const { return index_; }
  __device__ __forceinline__ int width() const { return width_; }
  __device__ __forceinline__ bool exists() const { return rows_left_ > 0; }
  __device__ __forceinline__ static constexpr bool is_in_warp() { return true; }
  __device__ __forceinline__ bool is_leader() const { return threadIdx.x == 0 && exists(); }

  template <typename Body>
  __device__ __forceinline__ void each(const Body& body) const {
    body(place());
  }
  template <typename Body>
  __device__ __forceinline__ void each_shown(const Tile& tile, const Body& body) const {
    if (tile.shows(place())) body(place());
  }

  __device__ __forceinline__ Tile load(const ConstRows& rows) const {
    return load_visible<Place::kCertain>(rows, width_, 0);
  }
  template <int kCount>
  __device__ __forceinline__ void load(const ConstRows (&rows)[kCount],
                                       Tile (&tiles)[kCount]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) tiles[i] = load(rows[i]);
  }
  // kCertain: so many elements are visible in any case.
  template <int kCertain = 0>
  __device__ __forceinline__ Tile load_visible(const ConstRows& rows, int64_t visible,
                                               float hidden) const {
    Tile tile;
    tile.visible_ = num_visible(static_cast<int>(visible));
    const T* const own = staged(inputs_, rows.data);
    const int left = tile.visible_ - place().first;
#pragma unroll
    for (int k = 0; k < kSize; ++k) {
      const bool is_visible = k < kCertain || k * kLanes < left;
      tile.numbers_[k] = is_visible ? to_float(own[k * kLanes]) : hidden;
    }
    return tile;
  }
  template <int kCount>
  __device__ __forceinline__ void load_visible(const ConstRows (&rows)[kCount], int64_t visible,
                                               float hidden, Tile (&tiles)[kCount]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) tiles[i] = load_visible(rows[i], visible, hidden);
  }

  __device__ __forceinline__ Shares<float> largest(const Tile& tile,
                                                   bool of_negatives = false) const {
    float largest = -INFINITY;
    each_shown(tile, [&](const auto& place) {
      const float sign = of_negatives ? -1.0f : 1.0f;
      const Numbers numbers = tile.at(place);
#pragma unroll
      for (int k = 0; k < kSize; ++k) largest = fmaxf(largest, numbers[k] * sign);
    });
    return Shares<float>(largest);
  }

  template <typename Body>
  __device__ __forceinline__ Tile make(const Rows& out, const Body& body) const {
    const Tile tile = compute(body);
    store(out, place(), tile.numbers_);
    return tile;
  }

  // Rounded to T.
  template <typename Body>
  __device__ __forceinline__ Tile compute(const Body& body) const {
    Tile tile;
    tile.visible_ = num_visible(width_);
    // In pairs: of single numbers the conversion has a fraction of the rate.
    uint32_t words[kWords];
    pack_words<T>(body(place()), words);
    tile.numbers_ = unpack_words<T, kSize>(words);
    return tile;
  }

  // Where store_bytes() begins: all lanes have read what is in its place.
  __device__ __forceinline__ uint8_t* first_byte(const Rows&) const {
    cudaops::sync_warp();
    return bytes_;
  }
  __device__ __forceinline__ void store_bytes(uint8_t* first, const Place& place,
                                              const Bytes<kSize>& bytes) const {
#pragma unroll
    for (int k = 0; k < kSize; ++k) {
      if (place.holds(k)) {
        first[k * kLanes] = static_cast<uint8_t>(bytes.words[k / 4] >> (k % 4 * 8));
      }
    }
  }

  __device__ __forceinline__ void store(const Rows& rows, const Place& place,
                                        const Numbers& numbers) const {
    T* const own = staged(outputs_, rows.data);
#pragma unroll
    for (int k = 0; k < kSize; ++k) {
      if (place.holds(k)) own[k * kLanes] = from_float<T>(numbers[k]);
    }
  }

  template <int kWhich = 0>
  __device__ __forceinline__ void prefetch_columns(const void*, DType) const {}

  // Kept from the thread's first row on.
  template <int kWhich = 0, typename U>
  __device__ __forceinline__ Numbers columns(const U* data, const Place& place) const {
    static_assert(kWhich < kMostColumns, "more columns than are kept");
    Numbers& kept = columns_[kWhich];
    if (is_first_) {
#pragma unroll
      for (int k = 0; k < kSize; ++k) {
        const int column = place.first + k * kLanes;
        const bool is_there = k < Place::kCertain || column < width_;
        kept[k] = is_there ? to_float(cudaops::ldg(data + column)) : 0;
      }
    }
    return kept;
  }
  template <int kWhich = 0>
  __device__ __forceinline__ Numbers columns(const void* data, DType dtype,
                                             const Place& place) const {
    if (sizeof(T) < 4 && dtype == DType::kFloat32) {
      return columns<kWhich>(static_cast<const float*>(data), place);
    }
    return columns<kWhich>(static_cast<const T*>(data), place);
  }
  __device__ __forceinline__ Columns keep_columns(const void* data, DType dtype,
                                                  float offset) const {
    if (data != nullptr) return {columns(data, dtype, place()) + offset};
    return {map([](float) { return 1.0f; }, Numbers())};
  }
  __device__ __forceinline__ Numbers at(const Columns& columns, const Place&) const {
    return columns.numbers;
  }

  template <typename Value, typename Op>
  __device__ __forceinline__ Value reduce(const Value& value, const Value&, const Op& op) const {
    return cudaops::warp_reduce(value, op, kLanes);
  }
  template <typename Value>
  __device__ __forceinline__ static Shares<Value> shares(const Value& value) {
    return Shares<Value>(value);
  }
  template <typename Value, typename Op>
  __device__ __forceinline__ Value reduce_shares(const Shares<Value>& shares, const Value& identity,
                                                 const Op& op) const {
    return reduce(shares.of[0], identity, op);
  }
  __device__ __forceinline__ float max(float value) const {
    return reduce(value, -INFINITY, [](float a, float b) { return fmaxf(a, b); });
  }
  __device__ __forceinline__ float max_of_magnitudes(float value) const { return max(value); }
  template <typename Body>
  __device__ __forceinline__ float sum_of(const Body& body) const {
    return reduce(body(place()), 0.0f, [](float a, float b) { return a + b; });
  }
  template <int kCount>
  __device__ __forceinline__ Floats<kCount> sum(const Floats<kCount>& values) const {
    using Values = Floats<kCount>;
    return reduce(values, Values(), [](const Values& a, const Values& b) { return a + b; });
  }

 private:
  // The thread's first element of a row; an op asks for it by its array.
  struct Staged {
    const void* array;
    T* own;
  };
  template <int kCount>
  __device__ __forceinline__ static T* staged(const Staged (&arrays)[kCount], const void* array) {
    T* own = arrays[0].own;
#pragma unroll
    for (int i = 1; i < kCount; ++i) own = array == arrays[i].array ? arrays[i].own : own;
    return own;
  }

  __device__ __forceinline__ Place place() const {
    const int first = static_cast<int>(threadIdx.x);
    return {first, !kPads || exists() ? width_ - first : 0};
  }

  __device__ __forceinline__ int num_visible(int visible) const {
    return !kPads || exists() ? visible : 0;
  }
  static constexpr int kMostColumns = 2;

  int64_t index_;
  int rows_left_;  // of the warp's, from the thread's on
  int width_;
  bool is_first_ = true;
  mutable Numbers columns_[kMostColumns];
  Staged inputs_[kNumInputs];
  Staged outputs_[kNumOutputs > 0 ? kNumOutputs : 1];
  uint8_t* bytes_ = nullptr;
};

namespace detail {

template <typename Op, typename = void>
constexpr bool kTakesPackedRows = false;
template <typename Op>
constexpr bool kTakesPackedRows<Op, std::void_t<decltype(Op::kNumInputs)>> = Op::kNumInputs > 0;

template <typename Op>
constexpr int kNumPackedArrays =
    Op::kNumInputs > Op::kNumOutputs ? Op::kNumInputs : Op::kNumOutputs;

// Whether the op's rows are packed ones, of 8, 16 or 32 lanes a row.
template <typename Op>
bool rows_are_packed(const Op& op, int64_t width, int min_warp_width) {
  const auto is_packed = [&](const void* data, int64_t stride) {
    return stride == width && reinterpret_cast<uintptr_t>(data) % 16 == 0;
  };
  for (int i = 0; i < Op::kNumInputs; ++i) {
    if (!is_packed(op.input(i).data, op.input(i).stride)) return false;
  }
  for (int i = 0; i < Op::kNumOutputs; ++i) {
    if (!is_packed(op.output(i).data, op.output(i).stride)) return false;
  }
  if constexpr (kWritesBytes<Op>) {
    const Rows bytes = op.bytes();
    const RowOp row_op{Op::kNumTiles, Op::kReadsColumns,
                       static_cast<int>(sizeof(typename Op::Element)), true};
    if (bytes.stride != width || !packs_quantized_rows(row_op, width)) return false;
    if (reinterpret_cast<uintptr_t>(bytes.data) % kPackedRows<typename Op::Element> != 0) {
      return false;
    }
  }
  if (width >= kMinWarpWidth && width < min_warp_width) return false;
  return width >= kMinPackedWidth && width <= kMaxPackedWidth;
}

template <typename Op>
int packed_rows_bytes(int64_t width) {
  return kPackedWarps * kNumPackedArrays<Op> * static_cast<int>(width * int64_t{sizeof(Packed)});
}

// The warp's place in its block, in blocks of kLanes × kPackedThreads / kLanes.
template <int kLanes>
__device__ __forceinline__ int warp_of_packed_rows() {
  return static_cast<int>(threadIdx.y) / (32 / kLanes);
}

// 64 registers a thread: more leave too few warps.
template <typename Op, int kLanes>
__global__ void __launch_bounds__(kPackedThreads, 1024 / kPackedThreads)
    packed_rows_kernel(const Op op, int64_t num_rows, int width) {
  using T = typename Op::Element;
  using OneRow = PackedRow<T, kLanes, Op::kNumInputs, Op::kNumOutputs, false>;
  extern __shared__ Packed staged_rows[];
  wait_for_kernels_before();
  let_next_kernel_start();
  const int warp = warp_of_packed_rows<kLanes>();
  const int64_t first = (int64_t{blockIdx.x} * kPackedWarps + warp) * kPackedRows<T>;
  if (first >= num_rows) return;
  const PackedRows<T> rows(staged_rows + warp * kNumPackedArrays<Op> * width, first, num_rows,
                           width);
#pragma unroll
  for (int i = 0; i < Op::kNumInputs; ++i) rows.load(i, op.input(i));
  rows.wait();
  OneRow row(op, rows);
  // Caches have no room for the code of all steps (measured on an H200).
#pragma unroll 1
  for (int step = 0; step < OneRow::kSteps; ++step) {
    op(row);
    row.advance();
  }
  cudaops::sync_warp();
#pragma unroll
  for (int i = 0; i < Op::kNumOutputs; ++i) rows.store(i, op.output(i));
  if constexpr (kWritesBytes<Op>) rows.store_bytes(Op::kNumInputs - 1, op.bytes());
}

// Where rows_are_packed().
template <typename Op>
void launch_packed_rows(const Op& op, int64_t num_rows, int64_t width, cudaStream_t stream) {
  const unsigned int blocks =
      num_blocks(num_rows, kPackedWarps * kPackedRows<typename Op::Element>);
  const auto launch = [&](auto kernel, unsigned int lanes) {
    launch_overlapping_with(kernel, blocks, dim3(lanes, kPackedThreads / lanes),
                            packed_rows_bytes<Op>(width), stream, op, num_rows,
                            static_cast<int>(width));
  };
  if (width <= 8 * kPackedElements) {
    launch(&packed_rows_kernel<Op, 8>, 8);
  } else if (width <= 16 * kPackedElements) {
    launch(&packed_rows_kernel<Op, 16>, 16);
  } else {
    launch(&packed_rows_kernel<Op, 32>, 32);
  }
}

}  // namespace detail
}  // namespace cudaops_kernels
