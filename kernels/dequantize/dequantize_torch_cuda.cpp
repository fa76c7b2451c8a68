// SPDX-License-Identifier: Apache-2.0
// torch.ops.cudaops.dequantize: CUDA kernel.
#include <torch/csrc/stable/library.h>

#include "../common/torch_binding_cuda.h"
#include "dequantize_torch.h"

namespace cudaops_kernels {
namespace {

Tensor dequantize_on_cuda(const Tensor& input, const Tensor& scale,
                          std::optional<Tensor> zero_point, std::vector<int64_t> block_size,
                          ScalarType dtype) {
  const DeviceGuard guard(input.get_device_index());
  return dequantize_on(input, scale, zero_point, block_size, dtype, [&](const Dequantize& call) {
    launch_dequantize(call, current_stream(input));
  });
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(cudaops, CUDA, library) {
  implement(library, "dequantize", TORCH_BOX(&dequantize_on_cuda));
}

}  // namespace cudaops_kernels
