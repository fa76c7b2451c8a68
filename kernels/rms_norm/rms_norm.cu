// SPDX-License-Identifier: Apache-2.0
// rms_norm on CUDA devices: forward. Moves 2 * sizeof(T) bytes an element, with a residual 4: each
// row is read once and stays in registers.
#include "rms_norm_row.cuh"

namespace cudaops_kernels {
namespace {

template <typename T, bool kResidual>
struct Forward {
  using Element = T;
  static constexpr int kNumTiles = kResidual ? 2 : 1;
  static constexpr bool kReadsColumns = true;
  static constexpr int kNumInputs = kResidual ? 2 : 1;
  static constexpr int kNumOutputs = kNumInputs;
  RmsNorm call;

  CUDAOPS_HOST_DEVICE ConstRows input(int i) const { return i == 0 ? call.input : call.residual; }
  CUDAOPS_HOST_DEVICE Rows output(int i) const { return i == 0 ? call.output : call.residual_out; }

  template <typename Row>
  __device__ __forceinline__ void operator()(Row& row) const {
    const auto x = rms_norm_input<kResidual>(row, call);
    const float rstd = rms_norm_rstd(row, call, x);
    if (call.rstd != nullptr && row.is_leader()) call.rstd[row.index()] = rstd;
    row.each([&](const auto& place) {
      row.store(call.output, place, rms_norm_output(row, call, x, rstd, place));
    });
  }
};

struct LaunchForward {
  template <typename T>
  static void run(const RmsNorm& call, cudaStream_t stream) {
    const RowGrid grid{call.num_rows, call.width, call.output};
    const bool aligned = rms_norm_is_aligned<T>(call);
    if (call.residual.data != nullptr) {
      launch_rows(Forward<T, true>{call}, grid, aligned, stream);
    } else {
      launch_rows(Forward<T, false>{call}, grid, aligned, stream);
    }
  }
};

}  // namespace

void launch_rms_norm(const RmsNorm& call, void* stream) {
  for_device_type<LaunchForward>(call.dtype, call, static_cast<cudaStream_t>(stream));
}

}  // namespace cudaops_kernels
