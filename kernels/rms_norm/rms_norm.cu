// SPDX-License-Identifier: Apache-2.0
// rms_norm on CUDA devices: forward. Moves 2 * sizeof(T) bytes an element, with a residual 4: each
// row is read once and stays in registers.
#include "../common/row.cuh"
#include "rms_norm.h"

namespace cudaops_kernels {
namespace {

// weight + weight_offset at a place; ones without a weight.
template <typename Row, typename Call>
__device__ __forceinline__ typename Row::Numbers scale(const Row& row, const Call& call,
                                                       const typename Row::Place& place) {
  if (call.weight != nullptr) {
    return row.columns(call.weight, call.weight_dtype, place) + call.weight_offset;
  }
  typename Row::Numbers ones;
#pragma unroll
  for (int k = 0; k < Row::kSize; ++k) ones[k] = 1;
  return ones;
}

template <typename T, bool kResidual>
struct Forward {
  using Element = T;
  static constexpr int kNumTiles = kResidual ? 2 : 1;
  RmsNorm call;

  template <typename Row>
  __device__ __forceinline__ void operator()(Row& row) const {
    auto x = row.load(call.input);
    if constexpr (kResidual) {
      const auto residual = row.load(call.residual);
      x = row.make(call.residual_out,
                   [&](const auto& place) { return x.at(place) + residual.at(place); });
    }
    float squares = 0;
    row.each([&](const auto& place) { squares += dot(x.at(place), x.at(place)); });
    const float rstd = rsqrtf(row.sum(squares) / static_cast<float>(call.width) + call.eps);
    if (call.rstd != nullptr && row.is_leader()) call.rstd[row.index()] = rstd;
    row.each([&](const auto& place) {
      row.store(call.output, place, x.at(place) * rstd * scale(row, call, place));
    });
  }
};

template <typename T>
bool is_aligned(const RmsNorm& call) {
  return rows_are_aligned<T>(call.input) && rows_are_aligned<T>(call.residual) &&
         rows_are_aligned<T>(call.output) && rows_are_aligned<T>(call.residual_out) &&
         rows_are_aligned<T>(call.weight, 0);
}

struct LaunchForward {
  template <typename T>
  static void run(const RmsNorm& call, cudaStream_t stream) {
    const RowGrid grid{call.num_rows, call.width, call.output};
    if (call.residual.data != nullptr) {
      launch_rows(Forward<T, true>{call}, grid, is_aligned<T>(call), stream);
    } else {
      launch_rows(Forward<T, false>{call}, grid, is_aligned<T>(call), stream);
    }
  }
};

}  // namespace

void launch_rms_norm(const RmsNorm& call, void* stream) {
  for_device_type<LaunchForward>(call.dtype, call, static_cast<cudaStream_t>(stream));
}

}  // namespace cudaops_kernels
