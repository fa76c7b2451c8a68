// SPDX-License-Identifier: Apache-2.0
// layer_norm on CUDA devices: forward. Moves 2 * sizeof(T) bytes an element: each row is read once
// and stays in registers.
#include "../common/row/dispatch.cuh"
#include "layer_norm.h"

namespace cudaops_kernels {
namespace {

template <typename T>
struct Forward {
  using Element = T;
  static constexpr int kNumTiles = 1;
  static constexpr bool kReadsColumns = true, kReadsTwoColumns = true;
  static constexpr int kNumInputs = 1;
  static constexpr int kNumOutputs = 1;
  LayerNorm call;

  CUDAOPS_HOST_DEVICE ConstRows input(int) const { return call.input; }
  CUDAOPS_HOST_DEVICE Rows output(int) const { return call.output; }

  template <typename Row>
  __device__ __forceinline__ void operator()(Row& row) const {
    const float share = early(1 / static_cast<float>(row.width()));
    const auto x = row.load(call.input);
    row.prefetch_columns(call.weight, call.weight_dtype);
    row.template prefetch_columns<1>(call.bias, call.weight_dtype);
    const float mean = row.sum_of([&](const auto& place) { return total(x.at(place)); }) * share;
    const float squares = row.sum_of([&](const auto& place) {
      auto centred = x.at(place) - mean;
      if (!place.is_whole()) {
#pragma unroll
        for (int k = 0; k < Row::kSize; ++k) centred[k] = place.holds(k) ? centred[k] : 0;
      }
      return dot(centred, centred);
    });
    const float rstd = rsqrtf(squares * share + call.eps);
    if (row.is_leader()) {
      if (call.mean != nullptr) call.mean[row.index()] = mean;
      if (call.rstd != nullptr) call.rstd[row.index()] = rstd;
    }
    // The choice once, not for each vector: there would be more code than caches for it have room.
    if (sizeof(T) < 4 && call.weight_dtype == DType::kFloat32) {
      store<float>(row, x, mean, rstd);
      return;
    }
    // Of 16 bits, where a thread has registers for both at once.
    if constexpr (sizeof(T) < 4 && Row::kKeepsAddresses) {
      if (call.weight != nullptr && call.bias != nullptr) {
        store_with_both(row, x, mean, rstd);
        return;
      }
    }
    store<T>(row, x, mean, rstd);
  }

  template <typename Weight, typename Row>
  __device__ __forceinline__ void store(const Row& row, const typename Row::Tile& x, float mean,
                                        float rstd) const {
    const Weight* const weight = static_cast<const Weight*>(call.weight);
    const Weight* const bias = static_cast<const Weight*>(call.bias);
    row.each([&](const auto& place) {
      auto y = (x.at(place) - mean) * rstd;
      if (weight != nullptr) y = y * row.columns(weight, place);
      if (bias != nullptr) y = y + row.template columns<1>(bias, place);
      row.store(call.output, place, y);
    });
  }

  // Weight and bias are in flight together. Not x * rstd - mean * rstd, which takes fewer
  // instructions: rows of one number would not be 0 before the bias.
  template <typename Row>
  __device__ __forceinline__ void store_with_both(const Row& row, const typename Row::Tile& x,
                                                  float mean, float rstd) const {
    row.each([&](const auto& place) {
      const auto scales = row.columns(static_cast<const T*>(call.weight), place);
      const auto biases = row.template columns<1>(static_cast<const T*>(call.bias), place);
      row.store(call.output, place,
                map([](float x, float scale, float bias) { return fmaf(x, scale, bias); },
                    (x.at(place) - mean) * rstd, scales, biases));
    });
  }
};

struct LaunchForward {
  template <typename T>
  static void run(const LayerNorm& call, cudaStream_t stream) {
    const bool aligned = rows_are_aligned<T>(call.input) && rows_are_aligned<T>(call.output) &&
                         rows_are_aligned<T>(call.weight, 0) && rows_are_aligned<T>(call.bias, 0);
    launch_rows(Forward<T>{call}, RowGrid{call.num_rows, call.width, call.output}, aligned, stream);
  }
};

}  // namespace

void launch_layer_norm(const LayerNorm& call, void* stream) {
  for_device_type<LaunchForward>(call.dtype, call, static_cast<cudaStream_t>(stream));
}

}  // namespace cudaops_kernels
