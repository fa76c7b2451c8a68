// SPDX-License-Identifier: Apache-2.0
// What is quantised: a formula of single elements, or the input itself, as a source of rows, groups
// and segments.
#pragma once

#include "../pointwise.cuh"

namespace cudaops_kernels {

// Instead of a formula of pointwise.h: the input as it is.
struct Identity {
  static constexpr int kNumInputs = 1;
};

// A formula's results as a source of rows, groups and segments.
template <typename Formula>
struct PointwiseSource {
  static constexpr int kNumTiles = Formula::kNumInputs;
  static constexpr bool kReadsColumns = false;
  static constexpr int kNumPackedInputs = 0, kNumPackedOutputs = 0;  // short rows are segments
  static constexpr bool kIsIdentity = std::is_same<Formula, Identity>::value;
  ConstRows arrays[Formula::kNumInputs];

  template <typename T>
  __device__ __forceinline__ static Numbers<T> apply(const Numbers<T> (&x)[Formula::kNumInputs]) {
    if constexpr (kIsIdentity) {
      return x[0];
    } else {
      Numbers<T> y[1];
      detail::apply<T>(Formula{}, x, {}, y);
      return y[0];
    }
  }

  template <typename T>
  __device__ __forceinline__ static Packed applied(const Packed (&x)[Formula::kNumInputs]) {
    if constexpr (kIsIdentity) {
      return x[0];
    } else {
      Numbers<T> numbers[Formula::kNumInputs];
#pragma unroll
      for (int j = 0; j < Formula::kNumInputs; ++j) numbers[j] = unpack<T>(x[j]);
      return pack<T>(apply<T>(numbers));
    }
  }

  template <typename Row>
  __device__ __forceinline__ auto load(const Row& row) const {
    if constexpr (kIsIdentity) {
      return row.load(arrays[0]);
    } else {
      static_assert(Formula::kNumInputs == 2, "formulas of two inputs only");
      typename Row::Tile tiles[2];
      row.load(arrays, tiles);
      return row.compute([first = tiles[0], second = tiles[1]](const auto& place) {
        const typename Row::Numbers x[2] = {first.at(place), second.at(place)};
        return apply<typename Row::Element>(x);
      });
    }
  }

  // A vector of rows of whole ones.
  template <typename T>
  __device__ __forceinline__ Packed whole(int64_t index, int64_t vector) const {
    Packed x[Formula::kNumInputs];
#pragma unroll
    for (int j = 0; j < Formula::kNumInputs; ++j) {
      x[j] = load_aligned(arrays[j].template row<T>(index) + vector * Vector<T>::kSize);
    }
    return applied<T>(x);
  }
  // A vector of each input, in flight.
  template <typename T>
  struct Windows {
    detail::Window<T> of_inputs[Formula::kNumInputs];
  };
  // kSameAlignment: all without an offset.
  template <typename T, bool kSameAlignment>
  __device__ __forceinline__ static Packed packed(const Windows<T>& windows) {
    Packed x[Formula::kNumInputs];
#pragma unroll
    for (int j = 0; j < Formula::kNumInputs; ++j) {
      x[j] = kSameAlignment ? windows.of_inputs[j].low : windows.of_inputs[j].vector();
    }
    return applied<T>(x);
  }

  // Where the arrays begin and end.
  template <typename T>
  struct Bounds {
    const T *first[Formula::kNumInputs], *last[Formula::kNumInputs];
  };
  template <typename T>
  __device__ __forceinline__ Bounds<T> bounds(int64_t num_rows, int64_t width) const {
    Bounds<T> bounds;
#pragma unroll
    for (int j = 0; j < Formula::kNumInputs; ++j) {
      bounds.first[j] = arrays[j].template row<T>(0);
      bounds.last[j] = arrays[j].template row<T>(num_rows - 1) + width;
    }
    return bounds;
  }
  // An element of each input.
  template <typename T>
  struct Inputs {
    const T* data[Formula::kNumInputs];

    __device__ __forceinline__ Inputs operator+(int elements) const {
      Inputs result = *this;
#pragma unroll
      for (int j = 0; j < Formula::kNumInputs; ++j) result.data[j] += elements;
      return result;
    }
    // Another lane's.
    __device__ __forceinline__ Inputs address_of_lane(int lane) const {
      Inputs result;
#pragma unroll
      for (int j = 0; j < Formula::kNumInputs; ++j) {
        result.data[j] = cudaops_kernels::address_of_lane(data[j], lane);
      }
      return result;
    }
    // Whether whatever vectors lie around the next `num` elements may be read.
    __device__ __forceinline__ bool are_between(const Bounds<T>& bounds, int num) const {
      bool are_between = true;
#pragma unroll
      for (int j = 0; j < Formula::kNumInputs; ++j) {
        are_between = are_between && data[j] - bounds.first[j] >= Vector<T>::kSize &&
                      bounds.last[j] - data[j] >= num + Vector<T>::kSize;
      }
      return are_between;
    }
    // The vectors from here on: they may be read.
    template <bool kSameAlignment>
    __device__ __forceinline__ Windows<T> load() const {
      Windows<T> windows;
#pragma unroll
      for (int j = 0; j < Formula::kNumInputs; ++j) {
        if constexpr (kSameAlignment) {
          windows.of_inputs[j] = {load_ordered(data[j]), {0, 0, 0, 0}, 0};
        } else {
          windows.of_inputs[j] = detail::load_window(data[j]);
        }
      }
      return windows;
    }
    // Elements begin … end - 1 of them; nothing is touched beyond the arrays' bounds.
    __device__ __forceinline__ Windows<T> load(const Bounds<T>& bounds, int begin, int end) const {
      Windows<T> windows;
#pragma unroll
      for (int j = 0; j < Formula::kNumInputs; ++j) {
        windows.of_inputs[j] =
            detail::load_window(data[j], begin, end, bounds.first[j], bounds.last[j]);
      }
      return windows;
    }
  };
  template <typename T>
  __device__ __forceinline__ Inputs<T> inputs(int64_t row, int64_t column) const {
    Inputs<T> result;
#pragma unroll
    for (int j = 0; j < Formula::kNumInputs; ++j) {
      result.data[j] = arrays[j].template row<T>(row) + column;
    }
    return result;
  }

  // Whether vectors of T are aligned to 16 bytes where those of bytes are aligned to their number.
  template <typename T>
  bool has_same_alignment(const Rows& bytes, int64_t num_rows) const {
    constexpr int64_t kSize = Vector<T>::kSize;
    const auto shift = [](const void* data, int64_t size) {
      return static_cast<int64_t>(reinterpret_cast<uintptr_t>(data) / static_cast<size_t>(size)) %
             kSize;
    };
    for (const ConstRows& rows : arrays) {
      if (shift(rows.data, sizeof(T)) != shift(bytes.data, 1)) return false;
      if (num_rows > 1 && (rows.stride - bytes.stride) % kSize != 0) return false;
    }
    return true;
  }
  template <typename T>
  bool is_aligned(int64_t num_rows) const {
    for (const ConstRows& rows : arrays) {
      if (!detail::all_start_aligned<T>(rows.data, num_rows, rows.stride)) return false;
    }
    return true;
  }
};

}  // namespace cudaops_kernels
