// SPDX-License-Identifier: Apache-2.0
// softmax on CUDA devices: forward. Moves 2 * sizeof(T) bytes an element and a mask's: each row is
// read once and stays in registers.
#include "softmax.cuh"

namespace cudaops_kernels {

#if defined(CUDAOPS_KERNELS_SHARDED)
extern template void launch_softmax_of<float>(const Softmax&, cudaStream_t);
extern template void launch_softmax_of<__half>(const Softmax&, cudaStream_t);
extern template void launch_softmax_of<bfloat16>(const Softmax&, cudaStream_t);
#endif

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
