// SPDX-License-Identifier: Apache-2.0
// softmax on CUDA devices: forward. Moves 2 * sizeof(T) bytes an element and a mask's: each row is
// read once and stays in registers.
#include "../common/device_types.cuh"
#include "softmax.h"

namespace cudaops_kernels {

// Defined in softmax.cuh: a file for each element type (ops.cmake).
template <typename T>
void launch_softmax_of(const Softmax& call, cudaStream_t stream);

namespace {

struct LaunchForward {
  template <typename T>
  static void run(const Softmax& call, cudaStream_t stream) {
    launch_softmax_of<T>(call, stream);
  }
};

}  // namespace

void launch_softmax(const Softmax& call, void* stream) {
  for_device_type<LaunchForward>(call.dtype, call, static_cast<cudaStream_t>(stream));
}

}  // namespace cudaops_kernels
