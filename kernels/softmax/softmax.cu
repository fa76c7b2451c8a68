// SPDX-License-Identifier: Apache-2.0
// softmax on CUDA devices: forward. Moves 2 * sizeof(T) bytes an element: each row is read once and
// stays in registers.
#include "softmax_row.cuh"

namespace cudaops_kernels {
namespace {

struct LaunchForward {
  template <typename T>
  static void run(const Softmax& call, cudaStream_t stream) {
    softmax::launch_forward<T, false>(call, true, stream);
  }
};

}  // namespace

void launch_softmax(const Softmax& call, void* stream) {
  const cudaStream_t cuda_stream = static_cast<cudaStream_t>(stream);
  if (call.mask.kind == SoftmaxMask::Kind::kNone) {
    for_device_type<LaunchForward>(call.dtype, call, cuda_stream);
  } else {
    softmax::launch_masked(call, cuda_stream);
  }
}

}  // namespace cudaops_kernels
