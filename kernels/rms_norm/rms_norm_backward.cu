// SPDX-License-Identifier: Apache-2.0
// rms_norm on CUDA devices: backward, a file of its own because it takes nvcc as long as forward.
// Moves 3 * sizeof(T) bytes an element, with a residual's gradient 4.
#include "../common/row/persistent.cuh"
#include "rms_norm.h"

namespace cudaops_kernels {
namespace {

template <typename T, bool kResidual>
struct Backward {
  using Element = T;
  static constexpr int kNumSums = 1;
  static constexpr int kNumTotals = 1;
  static constexpr int kNumInputs = kResidual ? 3 : 2;
  static constexpr int kNumOutputs = 1;
  static constexpr int kNumScalars = 1;
  RmsNormBackward call;
  float inverse_width;

  CUDAOPS_HOST_DEVICE ConstRows input(int i) const {
    return i == 0 ? call.grad_output : (i == 1 ? call.x : call.grad_residual_out);
  }

  CUDAOPS_HOST_DEVICE Rows output(int) const { return call.grad_x; }

  __device__ __forceinline__ const float* scalars(int) const { return call.rstd; }

  template <typename Row>
  __device__ __forceinline__ typename Row::Columns fixed(const Row& row) const {
    return row.keep_columns(call.weight, call.weight_dtype, call.weight_offset);
  }

  template <typename Row, typename Tiles, typename Sums>
  __device__ __forceinline__ Floats<1> totals(const Row& row, const Tiles& tiles,
                                              const typename Row::Columns& weight,
                                              const Floats<1>& scalars, Sums& sums) const {
    float products = 0;
    row.each([&](const auto& place) {
      const auto product = tiles[0].at(place) * tiles[1].at(place);
      products += dot(product, row.at(weight, place));
      sums.add(0, place, product * scalars[0]);
    });
    return {products};
  }

  template <typename Row, typename Tiles>
  __device__ __forceinline__ void gradient(const Row& row, const Tiles& tiles,
                                           const typename Row::Columns& weight,
                                           const Floats<1>& scalars,
                                           const Floats<1>& totals) const {
    const float rstd = scalars[0];
    float shift = -totals[0] * rstd * rstd * rstd;
    // A division takes 20 instructions and registers that decide how many blocks fit; ends of rows
    // and more vectors a thread have other limits, and are slower without it.
    if constexpr (Row::kIsWhole && Row::kSlots == 1) {
      shift *= inverse_width;
    } else {
      shift /= static_cast<float>(call.width);
    }
    row.each([&](const auto& place) {
      // Of two products added up nvcc may fuse either, in each kernel another one.
      auto grad_x = map([&](float h, float x) { return fmaf(h, rstd, x * shift); },
                        tiles[0].at(place) * row.at(weight, place), tiles[1].at(place));
      if constexpr (kResidual) grad_x = grad_x + tiles[2].at(place);
      row.store(call.grad_x, place, grad_x);
    });
  }
};

template <typename T>
bool is_aligned(const RmsNormBackward& call) {
  return rows_are_aligned<T>(call.grad_output) && rows_are_aligned<T>(call.grad_residual_out) &&
         rows_are_aligned<T>(call.x) && rows_are_aligned<T>(call.grad_x) &&
         rows_are_aligned<T>(call.weight, 0);
}

struct LaunchBackward {
  template <typename T>
  static void run(const RmsNormBackward& call, void* workspace, cudaStream_t stream) {
    const PersistentGrid grid{call.num_rows, call.width, call.grad_x,
                              static_cast<float*>(workspace)};
    void* const sums[] = {call.grad_weight};
    const float inverse_width = 1 / static_cast<float>(call.width);
    if (call.grad_residual_out.data != nullptr) {
      launch_persistent_rows(Backward<T, true>{call, inverse_width}, grid, sums, call.weight_dtype,
                             is_aligned<T>(call), stream);
    } else {
      launch_persistent_rows(Backward<T, false>{call, inverse_width}, grid, sums, call.weight_dtype,
                             is_aligned<T>(call), stream);
    }
  }
};

}  // namespace

int64_t rms_norm_backward_workspace_bytes(const RmsNormBackward& call) {
  const int num_inputs = call.grad_residual_out.data != nullptr ? 3 : 2;
  return persistent_rows_workspace_bytes(call.num_rows, call.width, call.dtype, num_inputs,
                                         call.grad_weight != nullptr ? 1 : 0);
}

void launch_rms_norm_backward(const RmsNormBackward& call, void* workspace, void* stream) {
  for_device_type<LaunchBackward>(call.dtype, call, workspace, static_cast<cudaStream_t>(stream));
}

}  // namespace cudaops_kernels
