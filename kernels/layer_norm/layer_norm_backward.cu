// SPDX-License-Identifier: Apache-2.0
// layer_norm on CUDA devices: backward, a file of its own because it takes nvcc as long as forward.
// Moves 3 * sizeof(T) bytes an element.
#include "../common/row/persistent.cuh"
#include "layer_norm.h"

namespace cudaops_kernels {
namespace {

template <typename T>
struct Backward {
  using Element = T;
  static constexpr int kNumSums = 2;
  static constexpr int kNumTotals = 2;
  static constexpr int kNumInputs = 2;
  static constexpr int kNumOutputs = 1;
  static constexpr int kNumScalars = 2;
  LayerNormBackward call;
  float inverse_width;  // a division takes 20 instructions of each thread, twice a row

  CUDAOPS_HOST_DEVICE ConstRows input(int i) const {
    return i == 0 ? call.grad_output : call.input;
  }

  CUDAOPS_HOST_DEVICE Rows output(int) const { return call.grad_input; }

  __device__ __forceinline__ const float* scalars(int i) const {
    return i == 0 ? call.mean : call.rstd;
  }

  template <typename Row>
  __device__ __forceinline__ typename Row::Columns fixed(const Row& row) const {
    return row.keep_columns(call.weight, call.weight_dtype, 0);
  }

  template <typename Row, typename Tiles, typename Sums>
  __device__ __forceinline__ Floats<2> totals(const Row& row, const Tiles& tiles,
                                              const typename Row::Columns& weight,
                                              const Floats<2>& scalars, Sums& sums) const {
    const float mean = scalars[0], rstd = scalars[1];
    float sum = 0, products = 0;
    row.each([&](const auto& place) {
      const auto grad = tiles[0].at(place);
      const auto product = grad * (tiles[1].at(place) - mean);
      const auto scale = row.at(weight, place);
      sum += dot(grad, scale);
      products += dot(product, scale);
      sums.add(0, place, product * rstd);
      sums.add(1, place, grad);
    });
    // Without rstd, which nvcc would fuse with whatever is added next: in each kernel another
    // number.
    return {sum, products};
  }

  template <typename Row, typename Tiles>
  __device__ __forceinline__ void gradient(const Row& row, const Tiles& tiles,
                                           const typename Row::Columns& weight,
                                           const Floats<2>& scalars,
                                           const Floats<2>& totals) const {
    // rstd * (h - mean_h - (input - mean) * rstd * mean_product), as h * rstd + input * a + b
    const float mean = scalars[0], rstd = scalars[1];
    const float a = -rstd * rstd * (totals[1] * rstd * inverse_width);
    const float b = fmaf(-mean, a, -rstd * (totals[0] * inverse_width));
    row.each([&](const auto& place) {
      const auto h = tiles[0].at(place) * row.at(weight, place);
      row.store(call.grad_input, place, h * rstd + (tiles[1].at(place) * a + b));
    });
  }
};

struct LaunchBackward {
  template <typename T>
  static void run(const LayerNormBackward& call, void* workspace, cudaStream_t stream) {
    const bool aligned = rows_are_aligned<T>(call.grad_output) && rows_are_aligned<T>(call.input) &&
                         rows_are_aligned<T>(call.grad_input) &&
                         rows_are_aligned<T>(call.weight, 0);
    void* const sums[] = {call.grad_weight, call.grad_bias};
    launch_persistent_rows(
        Backward<T>{call, 1 / static_cast<float>(call.width)},
        PersistentGrid{call.num_rows, call.width, call.grad_input, static_cast<float*>(workspace)},
        sums, call.weight_dtype, aligned, stream);
  }
};

}  // namespace

int64_t layer_norm_backward_workspace_bytes(const LayerNormBackward& call) {
  const bool has_sums = call.grad_weight != nullptr || call.grad_bias != nullptr;
  return persistent_rows_workspace_bytes(call.num_rows, call.width, call.dtype, 2,
                                         has_sums ? 2 : 0);
}

void launch_layer_norm_backward(const LayerNormBackward& call, void* workspace, void* stream) {
  for_device_type<LaunchBackward>(call.dtype, call, workspace, static_cast<cudaStream_t>(stream));
}

}  // namespace cudaops_kernels
