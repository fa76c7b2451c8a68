// SPDX-License-Identifier: Apache-2.0
// A row's norm in the steps of row.h's ops, for those that do something else with it.
#pragma once

#include "../common/row/dispatch.cuh"
#include "rms_norm.h"

namespace cudaops_kernels {

// Whether all rows start at multiples of 16 bytes. It decides in which order a row is added up.
template <typename T>
bool rms_norm_is_aligned(const RmsNorm& call) {
  return rows_are_aligned<T>(call.input) && rows_are_aligned<T>(call.residual) &&
         rows_are_aligned<T>(call.output) && rows_are_aligned<T>(call.residual_out) &&
         rows_are_aligned<T>(call.weight, 0);
}

// x: input, or the sum, which is written. The weight is in flight with it.
template <bool kResidual, typename Row>
__device__ __forceinline__ typename Row::Tile rms_norm_input(const Row& row, const RmsNorm& call) {
  if constexpr (kResidual) {
    const ConstRows rows[2] = {call.input, call.residual};
    typename Row::Tile x[2];
    row.load(rows, x);
    row.prefetch_columns(call.weight, call.weight_dtype);
    return row.make(call.residual_out,
                    [&](const auto& place) { return x[0].at(place) + x[1].at(place); });
  } else {
    const auto x = row.load(call.input);
    row.prefetch_columns(call.weight, call.weight_dtype);
    return x;
  }
}

template <typename Row>
__device__ __forceinline__ float rms_norm_rstd(Row& row, const RmsNorm& call,
                                               const typename Row::Tile& x) {
  const float share = early(1 / static_cast<float>(row.width()));
  float squares;
  if constexpr (Row::kUnpacksApart) {
    squares = row.sum_of([&](const auto& place) {
      const auto numbers = unpack_apart<typename Row::Element>(x.packed(place));
      return dot(numbers, numbers);
    });
  } else {
    squares = row.sum_of([&](const auto& place) { return dot(x.at(place), x.at(place)); });
  }
  return rsqrtf(squares * share + call.eps);
}

// A weight of T without an offset.
template <typename T>
__device__ __forceinline__ bool is_plain(const RmsNorm& call) {
  return call.weight != nullptr && call.weight_offset == 0 &&
         (sizeof(T) == 4 || call.weight_dtype != DType::kFloat32);
}

// has_plain_weight: is_plain(), perhaps as a constant.
template <typename Row, typename Place>
__device__ __forceinline__ typename Row::Numbers rms_norm_output(const Row& row,
                                                                 const RmsNorm& call,
                                                                 const typename Row::Tile& x,
                                                                 float rstd, const Place& place,
                                                                 bool has_plain_weight) {
  using T = typename Row::Element;
  auto y = x.at(place) * rstd;
  if (has_plain_weight) {
    // The usual weight apart: it would take a choice and an addition for each element.
    y = y * row.columns(static_cast<const T*>(call.weight), place);
  } else if (call.weight != nullptr) {
    y = y * (row.columns(call.weight, call.weight_dtype, place) + call.weight_offset);
  }
  return y;
}

template <typename Row, typename Place>
__device__ __forceinline__ typename Row::Numbers rms_norm_output(const Row& row,
                                                                 const RmsNorm& call,
                                                                 const typename Row::Tile& x,
                                                                 float rstd, const Place& place) {
  return rms_norm_output(row, call, x, rstd, place, is_plain<typename Row::Element>(call));
}

}  // namespace cudaops_kernels
