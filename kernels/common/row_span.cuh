// SPDX-License-Identifier: Apache-2.0
// Short rows of any width that stand one behind the other, for row.cuh's ops.
//
// Each of them starts at another place of a vector; but kSpanRows of them are as many whole vectors
// as a row has elements. A warp takes such a span through shared memory: vectors on the way in and
// out, and between them element by element, where a lane's lie kLanes columns apart. So a warp's
// accesses stand side by side wherever a row starts, no row has ends to look at, and columns that
// all rows share need no vectors put together.
//
// An op takes part by naming its arrays, in which every element of a row is written by the thread
// that has read it:
//     static constexpr int kNumInputs = 1;
//     static constexpr int kNumOutputs = 1;
//     ConstRows input(int i) const;  // on the host too
//     Rows output(int i) const;
// Its code is the same as for other rows: SpanRow has Row's functions.
#pragma once

#include <cuda_runtime.h>
#include <cudaops/check.h>

#include <cmath>

#include "hopper.cuh"
#include "rows.h"
#include "vectors.cuh"

namespace cudaops_kernels {

constexpr int kSpanElements = 8;  // of a row, that a lane has
// So many of them every row has: no row is shorter than half of what its lanes have room for.
constexpr int kSureElements = kSpanElements / 2;
constexpr int kSpanThreads = 128;
constexpr int kSpanWarps = kSpanThreads / 32;
// After so many the next one starts with a vector again.
template <typename T>
constexpr int kSpanRows = Vector<T>::kSize;

// A lane's elements of a row: element k stands in column column_at(k). kPads: it has none of rows
// that are none.
template <int kLanes, bool kPads>
struct SpanPlace {
  static constexpr int kSize = kSpanElements, kSure = kPads ? 0 : kSureElements;
  static constexpr bool kIsWhole = false;
  static constexpr int slot = 0;
  int first;
  int left;  // columns from there to the row's end
  __device__ __forceinline__ int column_at(int k) const { return first + k * kLanes; }
  __device__ __forceinline__ bool holds(int k) const { return k < kSure || k * kLanes < left; }
  // To look at each element is less than to branch: whole ones are not known as such.
  __device__ __forceinline__ static constexpr bool is_whole() { return false; }
};

// A warp's span: where it stands in each array, and in shared memory, array behind array. What an
// op writes takes the place of what it has read.
template <typename T>
class Span {
 public:
  // `stage`: `width` vectors for each array.
  __device__ __forceinline__ Span(Packed* stage, int64_t first_row, int64_t num_rows, int width)
      : stage_(stage), first_row_(first_row), width_(width) {
    const int64_t left = num_rows - first_row;
    num_rows_ = left < kSpanRows<T> ? static_cast<int>(left) : kSpanRows<T>;
  }

  __device__ __forceinline__ int64_t first_row() const { return first_row_; }
  __device__ __forceinline__ int num_rows() const { return num_rows_; }
  __device__ __forceinline__ int width() const { return width_; }

  // In shared memory.
  __device__ __forceinline__ T* row(int array, int row) const {
    return reinterpret_cast<T*>(stage_ + array * width_) + row * width_;
  }

  // To be waited for; all arrays are on their way at once.
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

 private:
  // Only the array's last span may end within a vector: nothing may be read or written behind it.
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

// A row of a span, kLanes threads' own. What the functions do is said of Row. A row that is none
// has zeros where kPads, else whatever stands in shared memory; nothing of it goes to an array.
template <typename T, int kLanes, int kNumInputs, int kNumOutputs, bool kPads>
class SpanRow {
 public:
  using Element = T;
  using Place = SpanPlace<kLanes, kPads>;
  using Numbers = Floats<kSpanElements>;
  static constexpr int kSize = kSpanElements;
  static constexpr int kSlots = 1;
  static constexpr bool kIsWhole = false;

  class Tile {
   public:
    __device__ __forceinline__ Numbers at(const Place&) const { return numbers_; }
    __device__ __forceinline__ bool shows(const Place& place) const {
      return place.first < visible_;
    }

   private:
    friend class SpanRow;
    Numbers numbers_;
    int visible_;
  };

  struct Columns {
    Numbers numbers;
  };

  // The thread's first row of the span; it is none where there are fewer.
  template <typename Op>
  __device__ __forceinline__ SpanRow(const Op& op, const Span<T>& span)
      : index_(span.first_row() + own_place()),
        rows_left_(span.num_rows() - own_place()),
        width_(span.width()) {
#pragma unroll
    for (int i = 0; i < kNumInputs; ++i) {
      inputs_[i] = {op.input(i).data, span.row(i, own_place()) + threadIdx.x};
    }
#pragma unroll
    for (int i = 0; i < kNumOutputs; ++i) {
      outputs_[i] = {op.output(i).data, span.row(i, own_place()) + threadIdx.x};
    }
  }

  // So many rows of a warp are worked on at once, and so many times.
  static constexpr int kAtOnce = 32 / kLanes;
  static constexpr int kTurns = kSpanRows<T> / kAtOnce;
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
  }

  __device__ __forceinline__ int64_t index() const { return index_; }
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
    return load_visible<Place::kSure>(rows, width_, 0);
  }
  template <int kCount>
  __device__ __forceinline__ void load(const ConstRows (&rows)[kCount],
                                       Tile (&tiles)[kCount]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) tiles[i] = load(rows[i]);
  }
  // kSure: so many elements are visible in any case.
  template <int kSure = 0>
  __device__ __forceinline__ Tile load_visible(const ConstRows& rows, int64_t visible,
                                               float hidden) const {
    Tile tile;
    tile.visible_ = num_visible(static_cast<int>(visible));
    const T* const own = staged(inputs_, rows.data);
    const int left = tile.visible_ - place().first;
#pragma unroll
    for (int k = 0; k < kSize; ++k) {
      const bool is_visible = k < kSure || k * kLanes < left;
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

  __device__ __forceinline__ float largest(const Tile& tile, bool of_negatives = false) const {
    float largest = -INFINITY;
    each_shown(tile, [&](const auto& place) {
      const float sign = of_negatives ? -1.0f : 1.0f;
      const Numbers numbers = tile.at(place);
#pragma unroll
      for (int k = 0; k < kSize; ++k) largest = fmaxf(largest, numbers[k] * sign);
    });
    return largest;
  }

  template <typename Body>
  __device__ __forceinline__ Tile make(const Rows& out, const Body& body) const {
    Tile tile;
    tile.visible_ = num_visible(width_);
    tile.numbers_ = map([](float x) { return to_float(from_float<T>(x)); }, body(place()));
    store(out, place(), tile.numbers_);
    return tile;
  }

  __device__ __forceinline__ void store(const Rows& rows, const Place& place,
                                        const Numbers& numbers) const {
    T* const own = staged(outputs_, rows.data);
#pragma unroll
    for (int k = 0; k < kSize; ++k) {
      if (place.holds(k)) own[k * kLanes] = from_float<T>(numbers[k]);
    }
  }

  // Kept from the thread's first row on.
  template <int kWhich = 0, typename U>
  __device__ __forceinline__ Numbers columns(const U* data, const Place& place) const {
    static_assert(kWhich < kMostColumns, "more columns than are kept");
    Numbers& kept = columns_[kWhich];
    if (is_first_) {
#pragma unroll
      for (int k = 0; k < kSize; ++k) {
        const int column = place.first + k * kLanes;
        const bool is_there = k < Place::kSure || column < width_;
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
  __device__ __forceinline__ float sum(float value) const {
    return reduce(value, 0.0f, [](float a, float b) { return a + b; });
  }
  __device__ __forceinline__ float max(float value) const {
    return reduce(value, -INFINITY, [](float a, float b) { return fmaxf(a, b); });
  }
  template <typename Body>
  __device__ __forceinline__ float sum_of(const Body& body) const {
    return sum(body(place()));
  }
  template <int kCount>
  __device__ __forceinline__ Floats<kCount> sum(const Floats<kCount>& values) const {
    using Values = Floats<kCount>;
    return reduce(values, Values(), [](const Values& a, const Values& b) { return a + b; });
  }

 private:
  // The thread's first element of a row; an op asks for it by the array it stands in.
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
  int rows_left_;  // of the span, from the thread's on
  int width_;
  bool is_first_ = true;
  mutable Numbers columns_[kMostColumns];
  Staged inputs_[kNumInputs];
  Staged outputs_[kNumOutputs];
};

namespace detail {

template <typename Op, typename = void>
constexpr bool kTakesSpans = false;
template <typename Op>
constexpr bool kTakesSpans<Op, std::void_t<decltype(Op::kNumInputs)>> = Op::kNumInputs > 0;

template <typename Op>
constexpr int kNumSpanArrays = Op::kNumInputs > Op::kNumOutputs ? Op::kNumInputs : Op::kNumOutputs;

// Columns: shorter rows are faster as vectors, many rows a warp (measured on an H200).
constexpr int kLeastSpan = 33, kMostSpan = 32 * kSpanElements;
static_assert(kLeastSpan > 8 * kSureElements, "the shortest have them all, of 8 lanes");
// Those of which a warp has one at a time, and where that is worth it without sums of columns: just
// above 128 columns half of its elements are none.
constexpr int kLeastOfWarp = 16 * kSpanElements + 1, kLeastGoodOfWarp = 20 * kSpanElements;

// Whether the op's rows are spans that a warp can take, of 8, 16 or 32 lanes a row.
template <typename Op>
bool rows_are_spans(const Op& op, int64_t width, int least_of_warp) {
  const auto is_span = [&](const void* data, int64_t stride) {
    return stride == width && reinterpret_cast<uintptr_t>(data) % 16 == 0;
  };
  for (int i = 0; i < Op::kNumInputs; ++i) {
    if (!is_span(op.input(i).data, op.input(i).stride)) return false;
  }
  for (int i = 0; i < Op::kNumOutputs; ++i) {
    if (!is_span(op.output(i).data, op.output(i).stride)) return false;
  }
  if (width >= kLeastOfWarp && width < least_of_warp) return false;
  return width >= kLeastSpan && width <= kMostSpan;
}

template <typename Op>
int span_bytes(int64_t width) {
  return kSpanWarps * kNumSpanArrays<Op> * static_cast<int>(width * int64_t{sizeof(Packed)});
}

// The warp's place in its block, in blocks of kLanes × kSpanThreads / kLanes.
template <int kLanes>
__device__ __forceinline__ int span_warp() {
  return static_cast<int>(threadIdx.y) / (32 / kLanes);
}

// 64 registers a thread: more leave too few warps.
template <typename Op, int kLanes>
__global__ void __launch_bounds__(kSpanThreads, 1024 / kSpanThreads)
    row_spans_kernel(const Op op, int64_t num_rows, int width) {
  using T = typename Op::Element;
  using OneRow = SpanRow<T, kLanes, Op::kNumInputs, Op::kNumOutputs, false>;
  extern __shared__ Packed span_stage[];
  const int warp = span_warp<kLanes>();
  const int64_t first = (int64_t{blockIdx.x} * kSpanWarps + warp) * kSpanRows<T>;
  if (first >= num_rows) return;
  const Span<T> span(span_stage + warp * kNumSpanArrays<Op> * width, first, num_rows, width);
#pragma unroll
  for (int i = 0; i < Op::kNumInputs; ++i) span.load(i, op.input(i));
  span.wait();
  OneRow row(op, span);
  // Caches have no room for the code of all turns (measured on an H200).
#pragma unroll 1
  for (int turn = 0; turn < OneRow::kTurns; ++turn) {
    op(row);
    row.advance();
  }
  cudaops::sync_warp();
#pragma unroll
  for (int i = 0; i < Op::kNumOutputs; ++i) span.store(i, op.output(i));
}

// Where rows_are_spans().
template <typename Op>
void launch_row_spans(const Op& op, int64_t num_rows, int64_t width, cudaStream_t stream) {
  const unsigned int blocks = num_blocks(num_rows, kSpanWarps * kSpanRows<typename Op::Element>);
  const auto launch = [&](auto kernel, int lanes) {
    kernel<<<blocks, dim3(lanes, kSpanThreads / lanes), span_bytes<Op>(width), stream>>>(
        op, num_rows, static_cast<int>(width));
    CUDAOPS_CHECK_LAUNCH();
  };
  if (width <= 8 * kSpanElements) {
    launch(&row_spans_kernel<Op, 8>, 8);
  } else if (width <= 16 * kSpanElements) {
    launch(&row_spans_kernel<Op, 16>, 16);
  } else {
    launch(&row_spans_kernel<Op, 32>, 32);
  }
}

}  // namespace detail
}  // namespace cudaops_kernels
