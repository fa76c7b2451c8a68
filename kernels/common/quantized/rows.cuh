// SPDX-License-Identifier: Apache-2.0
// Rows quantised in one pass, with a scale a row: ops of row.h over any source of rows.
#pragma once

#include "../row/dispatch.cuh"
#include "scales.cuh"

namespace cudaops_kernels {

// An anchor by which a vector's bytes are aligned to their number: where a vector of T at the
// anchor is aligned to 16. Nothing is read or written there.
template <typename T>
Rows anchor_for_bytes(const Rows& output) {
  return {reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(output.data) * sizeof(T)),
          output.stride};
}

// Those of a place, to its row; `first`: row.first_byte().
template <typename Row, typename Place>
__device__ __forceinline__ void store_bytes_of_row(const Row& row, uint8_t* first,
                                                   const Place& place,
                                                   const Bytes<Place::kSize>& bytes) {
  if (!place.exists()) return;
  if constexpr (Row::kIsWhole) {
    store_aligned(first, bytes, place.column / Place::kSize);
  } else if constexpr (Row::kIsZeroPadded && !Place::kIsWhole) {
    store_aligned(row.at_vector(first, place), bytes, place.begin, place.end);
  } else if constexpr (Place::kIsWhole) {
    store_aligned(row.at_vector(first, place), bytes);
  } else {
    store_unaligned(row.at_vector(first, place), bytes, place.begin, place.end);
  }
}

// The thread's largest magnitude; NaN doesn't count.
template <typename Row, typename Tile>
__device__ __forceinline__ float largest_magnitude(const Row& row, const Tile& x) {
  if constexpr (Row::kIsPacked) {
    float magnitude = 0;
    row.each([&](const auto& place) {
      magnitude = fmaxf(magnitude, largest(map([](float y) { return fabsf(y); }, x.at(place))));
    });
    return magnitude;
  } else {
    AbsMax<typename Row::Element> magnitude(0);
    row.each([&](const auto& place) { magnitude.add(x.packed(place)); });
    return magnitude.value();
  }
}

// For launch_rows(): a scale a row. source.load(row) is what the row consists of, after rounding to
// T.
template <typename T, typename Source>
struct QuantizeRows {
  using Element = T;
  static constexpr int kNumTiles = Source::kNumTiles;
  static constexpr bool kReadsColumns = Source::kReadsColumns, kZeroPads = true;
  static constexpr int kNumInputs = Source::kNumPackedInputs;
  static constexpr int kNumOutputs = Source::kNumPackedOutputs;
  Source source;
  QuantizedRows result;

  CUDAOPS_HOST_DEVICE ConstRows input(int i) const { return source.input(i); }
  CUDAOPS_HOST_DEVICE Rows output(int i) const { return source.output(i); }
  CUDAOPS_HOST_DEVICE Rows bytes() const { return result.output; }

  template <typename Row>
  __device__ __forceinline__ void operator()(Row& row) const {
    const auto x = source.load(row);
    const float scale =
        scale_for(row.max_of_magnitudes(largest_magnitude(row, x)), result.type, result.rule);
    if (row.is_leader()) result.scale[result.places.row_at(row.index())] = scale;
    const float reciprocal = reciprocal_of_scale(scale);
    uint8_t* const output = row.first_byte(result.output);
    dispatch_type(result.type, [&](QuantizedType type) {
      row.each([&](const auto& place) {
        const auto bytes = quantized_bytes(x.at(place) * reciprocal, type);
        if constexpr (Row::kIsPacked) {
          row.store_bytes(output, place, bytes);
        } else {
          store_bytes_of_row(row, output, place, bytes);
        }
      });
    });
  }
};

// A scale a row.
template <typename T, typename Source>
void launch_row_quantize(const Source& source, const QuantizedRows& result, int64_t num_rows,
                         int64_t width, cudaStream_t stream) {
  const bool aligned = source.template is_aligned<T>(num_rows) &&
                       bytes_are_aligned<T>(result.output.data, result.output.stride);
  launch_rows(QuantizeRows<T, Source>{source, result},
              RowGrid{num_rows, width, anchor_for_bytes<T>(result.output)}, aligned, stream);
}

}  // namespace cudaops_kernels
