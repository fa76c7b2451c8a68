// SPDX-License-Identifier: Apache-2.0
// softmax with a mask on CUDA devices: the mask's bytes are read as well, from the cache the second
// time.
#include "softmax_row.cuh"

namespace cudaops_kernels {
namespace softmax {
namespace {

// Whether each vector of the mask lies at a multiple of its size.
template <typename T>
bool is_aligned(const SoftmaxMask& mask) {
  int element_bytes = 1;
  if (mask.kind == SoftmaxMask::Kind::kAdded) element_bytes = mask.dtype == DType::kFloat32 ? 4 : 2;
  if (reinterpret_cast<uintptr_t>(mask.data) % 16 != 0) return false;
  for (int dim = 0; dim < mask.num_dims; ++dim) {
    if (mask.strides[dim] * element_bytes % 16 != 0) return false;
  }
  return true;
}

struct LaunchMasked {
  template <typename T>
  static void run(const Softmax& call, cudaStream_t stream) {
    launch_forward<T, true>(call, is_aligned<T>(call.mask), stream);
  }
};

}  // namespace

void launch_masked(const Softmax& call, cudaStream_t stream) {
  for_device_type<LaunchMasked>(call.dtype, call, stream);
}

}  // namespace softmax
}  // namespace cudaops_kernels
