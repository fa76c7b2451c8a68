// SPDX-License-Identifier: Apache-2.0
// softmax on CUDA devices: backward. Moves 3 * sizeof(T) bytes an element: each row is read once
// and stays in registers.
#include "../common/row/dispatch.cuh"
#include "softmax.h"

namespace cudaops_kernels {
namespace {

template <typename T>
struct Backward {
  using Element = T;
  static constexpr int kNumTiles = 2;
  static constexpr bool kReadsColumns = false;
  static constexpr int kNumInputs = 2;
  static constexpr int kNumOutputs = 1;
  SoftmaxBackward call;

  CUDAOPS_HOST_DEVICE ConstRows input(int i) const {
    return i == 0 ? call.grad_output : call.output;
  }
  CUDAOPS_HOST_DEVICE Rows output(int) const { return call.grad_input; }

  template <typename Row>
  __device__ __forceinline__ void operator()(Row& row) const {
    const int64_t visible = visible_columns(row.index(), call.num_queries, call.width);
    const ConstRows rows[2] = {call.grad_output, call.output};
    typename Row::Tile tiles[2];
    row.load_visible(rows, visible, 0, tiles);
    const auto &grad_output = tiles[0], &output = tiles[1];
    const float sum = row.sum_of([&](const auto& place) {
      return grad_output.shows(place) ? dot(grad_output.at(place), output.at(place)) : 0;
    });
    row.each([&](const auto& place) {
      typename Row::Numbers grad = {};
      if (grad_output.shows(place)) {
        grad = (grad_output.at(place) - sum) * output.at(place) * call.scale;
      }
      row.store(call.grad_input, place, grad);
    });
  }
};

struct LaunchBackward {
  template <typename T>
  static void run(const SoftmaxBackward& call, cudaStream_t stream) {
    const bool aligned = rows_are_aligned<T>(call.grad_output) &&
                         rows_are_aligned<T>(call.output) && rows_are_aligned<T>(call.grad_input);
    launch_rows(Backward<T>{call}, RowGrid{call.num_rows, call.width, call.grad_input}, aligned,
                stream);
  }
};

}  // namespace

void launch_softmax_backward(const SoftmaxBackward& call, void* stream) {
  for_device_type<LaunchBackward>(call.dtype, call, static_cast<cudaStream_t>(stream));
}

}  // namespace cudaops_kernels
